@_exported public import ConformanceRunner
public import RemoteContract
public import SyncContract

/// How the kit gets at a remote: what its author writes.
public protocol RemoteHarness: Sendable {
    /// What reports call the remote.
    var name: String { get }

    /// Whether the back end keeps deleted rows and tells of them. True by default.
    ///
    /// Without it, pulls cannot bring deletions, and the rules about deleted rows are not applicable.
    var keepsDeletedRows: Bool { get }

    /// Makes a back end with one empty table, and a way to it. Each rule asks for one of its own.
    ///
    /// The back end keeps every column that it is sent; where columns are declared there, it has besides those of the table
    /// two that the table does not declare: one with the name `extra`, of texts, and one with the name `count`, of whole
    /// numbers.
    func makeWorld(_ table: TableDefinition) async throws -> any RemoteWorld

    /// Whether the back end can keep a value that is sent to it. True by default.
    ///
    /// A back end that has no numbers but binary ones says false of a whole number above 2⁵³, say. Such values are left out
    /// of what is written through the remote and past it.
    func keeps(_ value: FieldValue) -> Bool
}

extension RemoteHarness {
    /// True.
    public var keepsDeletedRows: Bool { true }

    /// True.
    public func keeps(_ value: FieldValue) -> Bool { true }
}

/// A back end, the remote that is judged, and whoever else writes to the back end.
///
/// A function that is not written makes the rules that need it not applicable, with that reason.
public protocol RemoteWorld: Sendable {
    /// A remote for the back end that knows nothing of those made before it, as after a new start of the app.
    func makeRemote() async throws -> any SyncRemote

    /// Another client changes rows, past the remote: what is given at once is written at one instant, so that rows with
    /// stamps get one and the same.
    func write(_ changes: [BackEndChange]) async throws

    /// The rows as the back end has them now, deleted ones included, each with its version under `version` and with
    /// `deleted`.
    func rows() async throws -> [Record]

    /// Lets so much time pass that everything written until now is settled: pulls that start from here on need not look
    /// for it any more.
    func settle() async throws

    /// How many requests have reached the back end. They count when they meet a fault, too.
    func requestCount() async throws -> Int

    /// Begins to write and holds the commit back until the closure that is returned is called: the row gets the stamp of now,
    /// and becomes visible then. Not offered by default.
    func hold(_ change: BackEndChange) async throws -> @Sendable () async throws -> Void

    /// Makes a row of the back end one that does not fit the table: a text in the column `number`. Not offered by default.
    func spoil(_ id: String) async throws

    /// Hides a row from the user of the remote: every request finds none with this id, and an insert finds the id taken. Not
    /// offered by default.
    func hide(_ id: String) async throws

    /// Has the back end store every new row under an id of its own from now on. Not offered by default.
    func chooseIDs() async throws

    /// Has every request meet a fault from now on; nil ends that. Not offered by default.
    func meet(_ fault: RemoteFault?) async throws

    /// Has something done right before a request reaches the back end: the one with this number, counted from now on, 1 being
    /// the next. It is done once; nil gives up what has not been done yet. Not offered by default.
    func before(request number: Int, _ action: (@Sendable () async throws -> Void)?) async throws

    /// The parameters of the addresses of all requests that have reached the back end, by name and as they were meant, in
    /// the order of the requests. Not offered by default.
    func parameters() async throws -> [[String: String]]

    /// Ends the world. Does nothing by default.
    func close() async
}

extension RemoteWorld {
    /// Not offered.
    public func hold(_ change: BackEndChange) async throws -> @Sendable () async throws -> Void {
        throw Unsupported("the world has no function 'hold'")
    }

    /// Not offered.
    public func spoil(_ id: String) async throws { throw Unsupported("the world has no function 'spoil'") }

    /// Not offered.
    public func hide(_ id: String) async throws { throw Unsupported("the world has no function 'hide'") }

    /// Not offered.
    public func chooseIDs() async throws { throw Unsupported("the world has no function 'chooseIDs'") }

    /// Not offered.
    public func meet(_ fault: RemoteFault?) async throws { throw Unsupported("the world has no function 'meet'") }

    /// Not offered.
    public func before(request number: Int, _ action: (@Sendable () async throws -> Void)?) async throws {
        throw Unsupported("the world has no function 'before'")
    }

    /// Not offered.
    public func parameters() async throws -> [[String: String]] {
        throw Unsupported("the world has no function 'parameters'")
    }

    /// Nothing.
    public func close() async {}
}

/// What another client does to a row of the back end.
public enum BackEndChange: Sendable, Hashable {
    /// A new row.
    case insert(Record)
    /// New values for some columns of a row that is there.
    case change(String, [String: FieldValue])
    /// The end of a row.
    case delete(String)
    /// A deleted row comes back as it was.
    case restore(String)
}

/// What requests meet instead of the back end.
public enum RemoteFault: Sendable, Hashable, CaseIterable {
    /// The connection breaks before the request has arrived.
    case requestLost
    /// The request is carried out, and the connection breaks before the answer has arrived.
    case answerLost
    /// The request hangs until the task that sent it is cancelled.
    case silence
    /// The back end wants somebody signed in.
    case unauthorized
    /// The back end asks to come back in seven seconds.
    case throttled
    /// The back end refuses the request, whatever it is: the user may not.
    case refused
    /// The back end fails.
    case serverFailure
    /// Something else answers with success and a page for people, as the login page of a network does.
    case foreignAnswer
}
