/// Why a query option cannot be used.
struct ODataError: Error, Equatable {
    enum Reason: Equatable {
        case syntax
        case unknownProperty
    }

    let reason: Reason
    let message: String
    /// Where in the option, in bytes.
    let position: Int

    static func syntax(_ message: String, at position: Int) -> ODataError {
        ODataError(reason: .syntax, message: message, position: position)
    }
}
