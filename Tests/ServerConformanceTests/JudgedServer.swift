import ConformanceRunner
import DatasyncEmulator
import Foundation
import SeededNumbers
import ServerConformance
import Testing

/// What a server does with a request; it may ask the emulator behind it.
typealias Answering = @Sendable (_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse

/// A server with a socket, and its table.
struct JudgedServer {
    static let table = "TodoItem"
    static let usualColumns: [String: EmulatedTableDefinition.ColumnType] = [
        "text": .string, "complete": .boolean, "number": .number, "date": .date,
    ]

    let emulator: Emulator
    let url: URL
    let serverProtocol: ServerProtocol
    private let server: EmulatorServer

    /// Starts a server whose table has every kind of column.
    static func with<Value>(
        _ serverProtocol: ServerProtocol,
        softDelete: Bool = true,
        columns: [String: EmulatedTableDefinition.ColumnType] = Self.usualColumns,
        pageSize: Int? = nil,
        answering: @escaping Answering = { try await $1.handle($0) },
        _ body: (JudgedServer) async throws -> Value
    ) async throws -> Value {
        let table = EmulatedTableDefinition(
            table,
            columns: columns,
            softDelete: softDelete
        )
        var configuration = EmulatorConfiguration(
            dialect: serverProtocol == .datasync ? .datasync : .azureMobileApps,
            tables: [table]
        )
        configuration.pageSize = pageSize
        let emulator = Emulator(configuration)
        let server = EmulatorServer(emulator, respond: answering)
        let url = try await server.start()
        let judged = JudgedServer(emulator: emulator, url: url, serverProtocol: serverProtocol, server: server)
        do {
            let value = try await body(judged)
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }

    var subject: ServerSubject { ServerSubject(url: url, table: Self.table, serverProtocol, timeout: .seconds(20)) }

    /// The rows of the table that are not deleted.
    var liveRows: [[String: JSONValue]] { emulator.rows(in: Self.table).filter { $0["deleted"] == false } }

    /// Runs rules, all when none is named.
    func judge(_ rules: [String] = [], chapters: [String] = [], seed: UInt64? = nil) async throws -> ConformanceReport {
        let suite = try ServerRules.suite(for: serverProtocol).selecting(chapters: chapters, ids: rules)
        return
            try await ServerConformance.run(suite, on: subject, RunSettings(seed: seed ?? SeededGenerator.chosenSeed))
            .report
    }
}

extension ConformanceReport {
    /// Fails the test for what is broken, and for what is not applicable without a reason that was foreseen.
    func expectPassed(_ name: String, notApplicable reasons: String...) {
        print(
            "\(name): \(count("passed")) passed, \(self.notApplicable.count) not applicable, seed \(seed), \(seconds) s"
        )
        for result in results where result.seconds > 2 { print("slow: \(result.rule.id) \(result.seconds)") }
        for result in broken { Issue.record("\(name): \(result)") }
        for result in self.notApplicable {
            guard case .notApplicable(let text) = result.outcome else { continue }
            #expect(reasons.contains { text.contains($0) }, "\(name): \(result)")
        }
    }
}
