import DatasyncEmulator
import Foundation
import ServerConformance

/// A server with one fault, and the rule that names it.
struct ServerMutant: Sendable, CustomStringConvertible {
    let serverProtocol: ServerProtocol
    let rule: String
    let fault: String
    let answering: Answering

    var description: String { "\(serverProtocol.rawValue) \(rule): \(fault)" }

    /// How long a server without a lock takes between looking and writing: time for another request, on a slow machine
    /// too.
    static let window = Duration.milliseconds(500)

    static let all = writing3 + reading3 + querying3 + all2 + content + tombstones + values

    init(_ serverProtocol: ServerProtocol, _ rule: String, _ fault: String, _ answering: @escaping Answering) {
        self.serverProtocol = serverProtocol
        self.rule = rule
        self.fault = fault
        self.answering = answering
    }

    /// A server that takes some requests for others.
    static func asking(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ change: @escaping @Sendable (inout EmulatorRequest) -> Void
    ) -> ServerMutant {
        ServerMutant(serverProtocol, rule, fault) { request, emulator in try await emulator.handle(request.with(change))
        }
    }

    /// A server that gives other answers.
    static func answering(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ change: @escaping @Sendable (EmulatorRequest, inout EmulatorResponse) -> Void
    ) -> ServerMutant {
        ServerMutant(serverProtocol, rule, fault) { request, emulator in
            try await emulator.handle(request).with { change(request, &$0) }
        }
    }

    /// A server that reads filters otherwise: one text in them for another.
    static func filtering(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ text: String,
        _ other: String
    ) -> ServerMutant {
        asking(serverProtocol, rule, fault) { request in
            if let filter = request["$filter"] {
                request["$filter"] = filter.replacingOccurrences(of: text, with: other)
            }
        }
    }
}
