internal import HTTPTransport

/// A request as a protocol words it, before it has an address.
struct WireRequest: Sendable, Hashable {
    var method: HTTPRequest.Method
    var table: String
    var id: String?
    var query = QueryText()
    /// The version the change is based on, without quotes.
    var ifMatch: String?
    /// JSON text in UTF-8.
    var body: [UInt8]?
}
