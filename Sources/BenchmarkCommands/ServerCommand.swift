internal import CommandArguments
internal import DatasyncEmulator
internal import Foundation
internal import SyncContract
internal import Synchronization

/// The other side of what `sync` measures, in a process of its own.
struct ServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server",
        abstract: "Serves the tables that 'sync' measures against, which starts it itself.",
        discussion: "Its first line says where it listens. It ends when standard input does."
    )

    @Option(name: .customLong("protocol"), help: "3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber = 3

    @Option(help: "The number of rows of the first table.")
    var rows = 0

    @Option(help: "The number of tables.")
    var tables = 1

    @Option(help: "By how many milliseconds every answer is late.")
    var delay = 0

    @Flag(help: "Answer a page that was asked for before from memory.")
    var remembers = false

    func validate() throws {
        guard protocolNumber == 3 || protocolNumber == 2 else { throw ValidationError("--protocol is 3 or 2") }
        guard rows >= 0, tables >= 1, (0...10_000).contains(delay) else {
            throw ValidationError("give at least one table, and no negative numbers")
        }
    }

    func run() async throws {
        var configuration = EmulatorConfiguration(
            dialect: protocolNumber == 2 ? .azureMobileApps : .datasync,
            tables: (0..<tables)
                .map { number in
                    EmulatedTableDefinition(
                        SyncWorkload.table(number).name,
                        columns: [
                            "text": .init(.text), "complete": .init(.boolean), "priority": .init(.integer),
                            "score": .init(.number), "due": .init(.date),
                        ]
                    )
                }
        )
        configuration.pageSize = 1_000
        configuration.logCapacity = 0
        let emulator = Emulator(configuration)
        if rows > 0 { try emulator.load(ServedRows.file(rows)) }
        let responder = DelayedResponder(delay: .milliseconds(delay), remembers: remembers)
        let server = EmulatorServer(emulator) { try await responder.respond($0, $1) }
        Report.write(try await server.start().absoluteString)
        await StandardInput.end()
        await server.stop()
    }
}

enum StandardInput {
    /// Waits for its end, on a thread of its own.
    static func end() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while !FileHandle.standardInput.availableData.isEmpty {}
                continuation.resume()
            }
        }
    }
}

/// Answers as the emulator does, later or from memory.
private final class DelayedResponder: Sendable {
    private let delay: Duration
    private let remembers: Bool
    private let memory = Mutex<[String: EmulatorResponse]>([:])

    init(delay: Duration, remembers: Bool) {
        self.delay = delay
        self.remembers = remembers
    }

    func respond(_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse {
        if delay > .zero { try await Task.sleep(for: delay) }
        guard remembers, request.method == "GET" else {
            return try await DevelopmentResponder().respond(request, emulator)
        }
        let target = request.path + "?" + request.query
        if let remembered = memory.withLock({ $0[target] }) { return remembered }
        let response = try await emulator.deliver(request)
        memory.withLock { $0[target] = response }
        return response
    }
}

/// The rows that a server has.
private enum ServedRows {
    /// A file that the emulator loads.
    static func file(_ count: Int) -> Data {
        var text = "{\"\(SyncWorkload.table().name)\": ["
        for (place, item) in ItemSource.first(count, .served).enumerated() {
            text += """
                \(place > 0 ? "," : "")\n{"id": "\(item.id)", "text": "\(item.text)", "complete": \(item.complete), \
                "priority": \(item.priority), "score": \(item.score), "due": "\(instant(item.dueMilliseconds))", \
                "updatedAt": "\(instant(SyncWorkload.stamp(place)))", "version": "\(SyncWorkload.version(place))", \
                "deleted": false}
                """
        }
        return Data((text + "\n]}\n").utf8)
    }

    /// In whole numbers: a date's own format cuts what a fraction of a second lacks to the next millisecond.
    private static func instant(_ milliseconds: Int64) -> String {
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
        let text = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
        return "\(text.dropLast()).\(String(1_000 + rest).dropFirst())Z"
    }
}
