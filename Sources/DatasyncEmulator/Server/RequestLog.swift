/// A request the emulator was asked, and what became of it.
public struct LoggedRequest: Sendable {
    /// Counts from 0 over the emulator's life; gaps mean nothing, order does.
    public let number: Int
    /// The request as it came.
    public let request: EmulatorRequest
    /// The status answered; nil when the connection was dropped instead, or within the answer.
    public let status: Int?
}

/// The last requests, oldest first.
struct RequestLog: Sendable {
    private(set) var entries: [LoggedRequest] = []
    private let capacity: Int
    private var nextNumber = 0

    init(capacity: Int) {
        self.capacity = max(0, capacity)
    }

    mutating func append(_ request: EmulatorRequest, status: Int?) {
        var request = request
        // What it was read from is not to be kept.
        request.content = nil
        entries.append(LoggedRequest(number: nextNumber, request: request, status: status))
        nextNumber += 1
        // Cutting in blocks keeps the cost of a full log constant per request.
        if entries.count > 2 * capacity { entries.removeFirst(entries.count - capacity) }
    }

    var latest: [LoggedRequest] {
        Array(entries.suffix(capacity))
    }

    mutating func clear() {
        entries = []
    }
}
