internal import ConformanceRunner
internal import DatasyncEmulator
internal import Foundation
internal import SealedSync
internal import ServerConformance

/// An error in the words of the tool: what went wrong, why, and what to do next.
struct Failure: Encodable {
    let code: String
    let message: String

    init(_ error: any Error) {
        switch error {
        case let error as ToolError:
            code = error.code
            message = error.message
        case let error as StoreError:
            code = "\(error.code)"
            message = Self.joined(error.message, error.cause)
        case let error as SyncError:
            code = "\(error.code)"
            message = Self.joined(error.message, error.cause)
        case let error as RemoteError:
            code = "\(error.code)"
            message = Self.joined(error.message, error.cause)
        case let error as KeyError:
            code = "\(error.code)"
            message = Self.joined(error.message, error.cause)
        case let error as EmulatorError:
            code = "\(error.code)"
            message = error.message
        case let error as UsageError:
            code = "usage"
            message = error.description
        case let error as ServerUnavailable:
            code = "notRun"
            message = error.description
        case let error as CocoaError:
            code = "inputOutput"
            message = error.localizedDescription
        case is CancellationError:
            code = "cancelled"
            message = "interrupted; what was done before stays"
        default:
            code = "unexpected"
            message = "\(error)"
        }
    }

    /// For a terminal: the message and its causes.
    var text: String { message }

    private static func joined(_ message: String, _ cause: (any Error)?) -> String {
        guard let cause else { return message }
        let inner: String =
            switch cause {
            case let cause as RemoteError:
                joined(cause.message + (cause.status.map { " (HTTP \($0))" } ?? ""), cause.cause)
            case let cause as StoreError: joined(cause.message, cause.cause)
            case let cause as KeyError: joined(cause.message, cause.cause)
            // Foundation's own description is a dump of dictionaries.
            case let cause as CocoaError: cause.localizedDescription
            default: "\(cause)"
            }
        return (message.hasSuffix(".") ? String(message.dropLast()) : message) + ": " + inner
    }
}

/// A failure that only the tool knows.
struct ToolError: Error {
    let code: String
    let message: String

    init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}
