internal import HTTPTransport
internal import RemoteContract
internal import SyncContract
internal import Synchronization

/// What answers have shown of a server, for as long as the remote lives.
struct ServerKnowledge: Sendable {
    /// Whether its answers lack a `Date`.
    var tellsNoTime = false
    /// Whether it has taken a query in the words of servers for .NET where its protocol has others as well.
    var isForDotNet = false
    private var tables: [String: TableKnowledge] = [:]

    /// The most that is believed: more than a database is behind that takes local time for universal time. A stamp that is
    /// older was not given just now, and each pull would ask for all since then again.
    private static let longestLag: Int64 = 86_400_000

    /// By how much stamps lag behind `Date`, at least; the largest seen, in whatever table: a clock is that of a database, and
    /// a table that is only read shows nothing of it.
    private var lag: Int64 = 0
    /// The `Date` that was read last: servers give it in seconds, so that many answers have the same.
    private var lastDate: (text: String, instant: Int64)?

    subscript(table: TableDefinition) -> TableKnowledge {
        get { tables[table.name] ?? TableKnowledge() }
        set { tables[table.name] = newValue }
    }

    /// Takes in the stamp that the server gave to a write, and when it said so. One that is older than can be is not taken.
    ///
    /// The stamp was given while the request was under way. So what it is older than the date by, beyond the duration of
    /// the request, is the clocks' difference: where a database has a clock of its own, stamps can be late for ever.
    mutating func learn(stamp: Int64, of table: TableDefinition, from response: ServerResponse) {
        guard let date = date(of: response) else { return }
        let late = date - response.duration.wholeMilliseconds - stamp
        guard late <= Self.longestLag else { return }
        lag = max(lag, late)
        // What a slow request shows may be much less than there is.
        if response.duration < .seconds(1) { self[table].hasShownLag = true }
    }

    private mutating func date(of response: ServerResponse) -> Int64? {
        guard let text = response.fields[.date] else { return nil }
        if let lastDate, lastDate.text == text { return lastDate.instant }
        lastDate = ServerResponse.instant(text).map { (text, $0) }
        return lastDate?.instant
    }

    /// The lag to reckon with in a table, when an earlier pull of it reckoned with the given one. Only a write to this very
    /// table shows that it has become less: others may lie in another database.
    func lag(of table: TableDefinition, earlier: Int64) -> Int64 {
        self[table].hasShownLag || earlier > Self.longestLag ? lag : max(lag, earlier)
    }
}

/// What answers have shown of one table.
struct TableKnowledge: Sendable {
    /// The most rows that the server lets one ask for; nil as long as it has refused no number.
    var maximumTop: Int?

    /// The columns, in lower case, that the server is known to have, where queries that name another one find nothing.
    var columns: Set<String> = []

    /// Whether a write has shown how much its stamps lag behind the server's `Date`.
    var hasShownLag = false
}

extension DatasyncRemote {
    /// Takes in the stamp that the server gave to a write; of one that may have changed nothing it would be that of an
    /// earlier write.
    func learn(_ stamp: Timestamp?, of table: TableDefinition, from response: ServerResponse) {
        guard let stamp else { return }
        knowledge.withLock { $0.learn(stamp: stamp.milliseconds, of: table, from: response) }
    }
}
