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
    /// Whether rules may do what could leave a row that nobody can delete, or that stops other clients.
    let triesLastingRows: Bool
    private let columnNames: [ColumnKind: String]
    private let knownServer: KnownServer?

    private struct State {
        var profile: ServerProfile?
        var properties: [SubjectProperty] = []
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
    ///   - headers: Header fields that every request has, such as `Authorization`.
    ///   - knownServer: What the server is known as; nil to find out.
    ///   - triesLastingRows: Whether rules may try an empty id and very long ones. On some servers nobody can delete the
    ///     row of the first, and other clients cannot pull a table any more that has had the second.
    ///   - timeout: The longest time one request may take.
    ///   - additionalCertificateFile: A file of certificates that are trusted beside the system's, in PEM.
    public convenience init(
        url: URL,
        table: String,
        _ serverProtocol: ServerProtocol,
        columns: [ColumnKind: String] = [:],
        headers: [(name: String, value: String)] = [],
        knownServer: KnownServer? = nil,
        triesLastingRows: Bool = false,
        timeout: Duration = .seconds(10),
        additionalCertificateFile: String? = nil
    ) {
        var options = TransportOptions()
        options.timeout = timeout
        options.additionalCertificateFile = additionalCertificateFile
        self.init(
            ServerClient(url: url, table: table, serverProtocol, options, extraFields: Self.fields(headers)),
            columns,
            knownServer,
            triesLastingRows
        )
    }

    /// Names a server that something else carries requests to, such as one in this process.
    package convenience init(
        url: URL,
        table: String,
        _ serverProtocol: ServerProtocol,
        columns: [ColumnKind: String] = [:],
        headers: [(name: String, value: String)] = [],
        knownServer: KnownServer? = nil,
        triesLastingRows: Bool = false,
        transport: any ClientTransport
    ) {
        self.init(
            ServerClient(url: url, table: table, serverProtocol, transport, extraFields: Self.fields(headers)),
            columns,
            knownServer,
            triesLastingRows
        )
    }

    private init(
        _ client: ServerClient,
        _ columns: [ColumnKind: String],
        _ knownServer: KnownServer?,
        _ triesLastingRows: Bool
    ) {
        self.client = client
        name = client.address.visible
        columnNames = columns
        self.knownServer = knownServer
        self.triesLastingRows = triesLastingRows
    }

    private static func fields(_ headers: [(name: String, value: String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in headers { if let name = HTTPField.Name(name) { fields[name] = value } }
        return fields
    }

    /// What the ids of all rows of this run begin with, but of those whose ids the server chooses.
    public var rowPrefix: String { ledger.prefix }

    /// The kinds of columns that the table has, and `softDelete`; found out with rows that are deleted again.
    public func capabilities() async throws -> Set<String> { try await profile().capabilities }

    func profile() async throws -> ServerProfile {
        if let known = state.withLock({ $0.profile }) { return known }
        var search = ProfileSearch(client, ledger, names: columnNames)
        let found = try await search.run(knownAs: knownServer)
        state.withLock { $0.profile = found }
        return found
    }

    // MARK: Properties

    /// Tells something that is neither right nor wrong; what was told before by the same name is replaced.
    func tell(_ name: String, _ text: String) {
        state.withLock { state in
            state.properties.removeAll { $0.name == name }
            state.properties.append(SubjectProperty(name, text))
        }
    }

    /// What was found out in this run, what the table is first and what is left in it last.
    var properties: [SubjectProperty] {
        let (profile, told) = state.withLock { ($0.profile ?? ServerProfile(), $0.properties) }
        var properties = [SubjectProperty("columns", profile.columnText)]
        properties += profile.remarks.map { SubjectProperty("column", $0) }
        if profile.server != .standard { properties.append(SubjectProperty("known server", profile.server.name)) }
        properties.append(
            SubjectProperty("largest $top", profile.largestTop.map { "\($0)" } ?? "none up to 1000000")
        )
        properties += told
        if profile.softDelete {
            let text =
                "\(ledger.deletedCount), which the server keeps; their ids begin with '\(rowPrefix)', and those that the"
                + " server chose are in rows with the text '\(textOfRowsWithoutID)'"
            properties.append(SubjectProperty("deleted rows left", text))
        }
        return properties
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
