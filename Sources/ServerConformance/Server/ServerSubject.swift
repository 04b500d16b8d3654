public import ConformanceRunner
public import Foundation
package import HTTPTransport
internal import Synchronization

/// A table of a server as the rules see it.
public final class ServerSubject: ConformanceSubject {
    /// What reports call it: the table's address.
    public let name: String

    let client: ServerClient
    let ledger = RowLedger()
    private let columnNames: [ColumnKind: String]

    private struct State {
        var profile: ServerProfile?
        var pageRows: Task<[String], any Error>?
        var lostResponses = 0
    }

    private let state = Mutex(State())

    /// Names a server and its table.
    ///
    /// - Parameters:
    ///   - url: The server's address, without `/tables`.
    ///   - table: The table. Rows are inserted, changed and deleted in it, none but those of the run itself.
    ///   - serverProtocol: What the server speaks.
    ///   - columns: The names of columns that are called otherwise than usual.
    ///   - timeout: The longest time one request may take.
    ///   - additionalCertificateFile: A file of certificates that are trusted beside the system's, in PEM.
    public convenience init(
        url: URL,
        table: String,
        _ serverProtocol: ServerProtocol,
        columns: [ColumnKind: String] = [:],
        timeout: Duration = .seconds(10),
        additionalCertificateFile: String? = nil
    ) {
        var options = TransportOptions()
        options.timeout = timeout
        options.additionalCertificateFile = additionalCertificateFile
        self.init(ServerClient(url: url, table: table, serverProtocol, options), columns)
    }

    /// Names a server that something else carries requests to, such as one in this process.
    package convenience init(
        url: URL,
        table: String,
        _ serverProtocol: ServerProtocol,
        transport: any ClientTransport
    ) {
        self.init(ServerClient(url: url, table: table, serverProtocol, transport), [:])
    }

    private init(_ client: ServerClient, _ columns: [ColumnKind: String]) {
        self.client = client
        name = client.address
        columnNames = columns
    }

    /// What the ids of all rows of this run begin with, but of those whose ids the server chooses.
    public var rowPrefix: String { ledger.prefix }

    /// The kinds of columns that the table has, and `softDelete`; found out with rows that are deleted again.
    public func capabilities() async throws -> Set<String> { try await profile().capabilities }

    func profile() async throws -> ServerProfile {
        if let known = state.withLock({ $0.profile }) { return known }
        let found = try await ServerProfile.find(client, ledger, names: columnNames)
        state.withLock { $0.profile = found }
        return found
    }

    // MARK: Rows that many rules read

    /// The ids of enough rows for more than one page of usual size, the same ones for all rules, made at the first call.
    func pageRows(_ make: @escaping @Sendable () async throws -> [String]) async throws -> [String] {
        let task = state.withLock { state in
            let task = state.pageRows ?? Task { try await make() }
            state.pageRows = task
            return task
        }
        do {
            return try await task.value
        } catch {
            // The next rule may have more luck.
            state.withLock { $0.pageRows = nil }
            throw error
        }
    }

    // MARK: The end

    /// Notes that an answer did not come.
    func noteLostResponse() { state.withLock { $0.lostResponses += 1 } }

    /// Whether answers failed to come since this was last asked.
    func takeLostResponses() -> Bool {
        state.withLock { state in
            defer { state.lostResponses = 0 }
            return state.lostResponses > 0
        }
    }

    /// Whether the server answers anything at all.
    func isReachable() async -> Bool {
        do {
            _ = try await client.send(ServerRequest(method: "GET", query: [("$top", "1")]))
            return true
        } catch {
            // That is the answer.
            return false
        }
    }

    /// Ends what is under way.
    func stop() { client.stop() }

    /// The text of rows whose id the server chooses, by which they are found when the answer with the id was lost.
    var textOfRowsWithoutID: String { "no id in \(ledger.prefix)" }

    /// Deletes all rows of the run that are still there, also when the calling task is cancelled.
    ///
    /// - Returns: The ids of rows that could not be deleted.
    func deleteRows() async -> [String] {
        await Task.detached {
            for id in await self.rowsWithoutID() { self.ledger.note(id) }
            await self.ledger.delete(self.ledger.ids, with: self.client)
            return self.ledger.ids.sorted()
        }
        .value
    }

    private func rowsWithoutID() async -> [String] {
        guard let column = state.withLock({ $0.profile })?.columns[.text] else { return [] }
        let text = textOfRowsWithoutID
        let filter = ("$filter", "\(column) eq '\(text)'")
        do {
            let response = try await client.send(ServerRequest(method: "GET", query: [filter]), evenWhenStopped: true)
            let rows = response.json?["items"]?.array ?? response.json?.array ?? []
            // A server that does not know filters well shows rows of others.
            return rows.filter { $0[column]?.string == text }.compactMap { $0["id"]?.string }
        } catch {
            // Without an answer there is nothing more to be found.
            return []
        }
    }
}
