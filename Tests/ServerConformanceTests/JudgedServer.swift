import ConformanceRunner
import DatasyncEmulator
import EmulatorTransport
import Foundation
import SeededNumbers
import ServerConformance
import Testing

/// What a server does with a request; it may ask the emulator behind it.
typealias Answering = @Sendable (_ request: EmulatorRequest, _ emulator: Emulator) async throws -> EmulatorResponse

/// A server and its table.
struct JudgedServer {
    /// What carries the requests.
    enum Carrier {
        case sockets
        /// For tests that are about what is said.
        case memory
    }

    static let table = "TodoItem"
    static let usualColumns: EmulatedTableDefinition.Columns = [
        "text": .text.optional, "complete": .boolean, "number": .number.optional, "date": .date.optional,
    ]

    let emulator: Emulator
    let url: URL
    let serverProtocol: ServerProtocol
    /// Nil for sockets.
    private let transport: EmulatorTransport?

    /// Starts a server whose table has every kind of column.
    static func with<Value>(
        _ serverProtocol: ServerProtocol,
        softDelete: Bool = true,
        columns: EmulatedTableDefinition.Columns = Self.usualColumns,
        pageSize: Int? = nil,
        maximumTop: Int? = nil,
        by carrier: Carrier = .sockets,
        answering: @escaping Answering = { try await $1.handle($0) },
        configured configure: (inout EmulatorConfiguration) -> Void = { _ in },
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
        configuration.maximumTop = maximumTop
        configure(&configuration)
        let emulator = Emulator(configuration)
        if carrier == .memory {
            let transport = EmulatorTransport(emulator, answering: answering)
            let address = try #require(URL(string: "http://emulator.example"))
            return try await body(JudgedServer(emulator, address, serverProtocol, transport))
        }
        let server = EmulatorServer(emulator, respond: answering)
        let judged = JudgedServer(emulator, try await server.start(), serverProtocol, nil)
        do {
            let value = try await body(judged)
            await server.stop()
            return value
        } catch {
            await server.stop()
            throw error
        }
    }

    private init(_ emulator: Emulator, _ url: URL, _ serverProtocol: ServerProtocol, _ transport: EmulatorTransport?) {
        (self.emulator, self.url, self.serverProtocol, self.transport) = (emulator, url, serverProtocol, transport)
    }

    /// What tries everything there is to try.
    var subject: ServerSubject { subject(triesLastingRows: true) }

    func subject(
        columns: [ColumnKind: String] = [:],
        headers: [(name: String, value: String)] = [],
        triesLastingRows: Bool = false
    ) -> ServerSubject {
        if let transport {
            return ServerSubject(
                url: url,
                table: Self.table,
                serverProtocol,
                columns: columns,
                headers: headers,
                triesLastingRows: triesLastingRows,
                transport: transport
            )
        }
        return ServerSubject(
            url: url,
            table: Self.table,
            serverProtocol,
            columns: columns,
            headers: headers,
            triesLastingRows: triesLastingRows,
            timeout: .seconds(20)
        )
    }

    /// The rows of the table that are not deleted.
    var liveRows: [[String: JSONValue]] { emulator.rows(in: Self.table).filter { $0["deleted"] == false } }

    /// Runs rules, all when none is named.
    func judge(
        _ rules: [String] = [],
        chapters: [String] = [],
        seed: UInt64? = nil,
        as subject: ServerSubject? = nil
    ) async throws -> ConformanceReport {
        let suite = try ServerRules.suite(for: serverProtocol).selecting(chapters: chapters, ids: rules)
        return
            try await ServerConformance.run(
                suite,
                on: subject ?? self.subject,
                RunSettings(seed: seed ?? SeededGenerator.chosenSeed)
            )
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
