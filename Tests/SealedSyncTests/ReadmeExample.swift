// swift-format-ignore-file
// The lines are those of README.md, as wide as they are there.

import Foundation
import SealedSync

/// The example of README.md, word for word: what does not compile here would not compile for a reader.
func readmeExample() async throws {
    // README: In an app
    struct TodoItem: Codable, Identifiable, Sendable {
        var id = ""                     // an empty id is replaced by a new UUID
        var text: String
        var complete = false
        var version: String?            // what the server set; finds changes made elsewhere
    }

    let schema = try StoreSchema([TableDefinition(TodoItem.self)])   // the columns are those of the type

    // The first run makes the store, or finishes one that was interrupted; later runs open it.
    let folder = StoreFolder(URL(filePath: "todos"))             // on a device, below its documents folder
    let secret = try await PassphraseUnlocker.readPassphrase(from: URL(filePath: "passphrase"))
    let passphrase = PassphraseUnlocker(passphrase: secret)      // or a SecretFileUnlocker, or your own StoreUnlocker
    let store = try await folder.openOrCreate(schema, unlocker: passphrase)

    let server = try DatasyncRemote(baseURL: URL(string: "https://example.org")!, dialect: .datasync)
    let context = SyncContext(store: store, remote: server)
    let todos = try context.table(TodoItem.self)

    var milk = try await todos.insert(TodoItem(text: "Buy milk"))        // item and queued change: one transaction
    milk.complete = true
    try await todos.update(milk)
    let open = try await todos.where { !$0.complete }.read()
    print("\(open.count) to do")

    try await todos.pull()                                               // sends what waits, then fetches what changed
    for error in try await context.operationErrors() where error.isConflict {
        try await context.resolve(error, with: .keepMine)                // or .takeServer, .discard, .keepMerged(record)
    }
    await store.close()
    // README: end
}

/// The same for what follows it.
func readmeComputing(_ store: EncryptedStore, send: ([Record]) -> Void) async throws {
    // README: Computing
    let large = Query("Order").filtered(by: Column("price") * Column("count") > 100 && Column("due").year == 2026)
    for try await records in store.batches(of: large.ordered(by: "due"), size: 500) { send(records) }
    // README: end
}

/// The same for what follows that.
func readmeAggregates(_ store: EncryptedStore) async throws {
    // README: Aggregates
    let unpaid = Query("Invoice").filtered(by: Column("paid") == false)
    for group in try await store.aggregate(unpaid.aggregating(.count, .sum(of: "amount"), by: "customer")) {
        print(group.group, group.values)
    }
    // README: end
}

/// The same for what follows that.
func readmeReports(
    _ context: SyncContext,
    _ invoices: SyncTable<Record>,
    _ customers: SyncTable<Record>,
    _ today: Date
) async throws {
    // README: Reports
    struct Turnover: Decodable { var name: String; var invoices: Int; var total: Decimal }
    let report = context.sql(
        """
        SELECT c.name, count(*) AS invoices, decimal_sum(i.amount) AS total
        FROM \(invoices) i JOIN \(customers) c ON c.id = i.customerID
        WHERE i.due >= \(today) GROUP BY c.id ORDER BY total COLLATE decimal DESC
        """,
        as: Turnover.self
    )
    for row in try await report.read() { print(row.name, row.total) }
    // README: end
}

/// The same for what follows that.
func readmeSearch<Item: TableItem>(_ todos: SyncTable<Item>) async throws where Item.ID == String {
    // README: Search
    let found = todos.query
        .filtered(by: .matches(words: "łód пят", in: ["text", "place"]))  // all words, each the beginning of one
        .ordered(by: "complete").ordered(by: "text", folded: true)        // open ones first, then as people sort
    // README: end
    _ = try await todos.read(found)
}

private struct TodoItem: SyncItem {
    var id = ""
    var text: String
    var complete = false
}

/// The same for what follows that.
private func readmeLiveQuery(_ todos: SyncTable<TodoItem>, show: ([TodoItem]) -> Void) async throws {
    // README: Live query
    let open = todos.where { !$0.complete }.ordered(by: \.text.folded)
    for try await items in open.observe() {
        show(items)                                                      // ends with the task, or when the store is closed
    }
    // README: end
}

/// The same for what follows that.
func readmeTokens<TodoItem: Codable & Identifiable & Sendable>(
    _ store: EncryptedStore,
    _: TodoItem.Type,
    token: @escaping DatasyncRemote.TokenProvider
) async throws where TodoItem.ID == String {
    // README: Tokens
    let service: DatasyncRemote = try .datasync("https://example.org") { try await token() }   // nil: nobody is signed in
    let online = try SyncContext(store: store, remote: service).remoteTable("TodoItem", of: TodoItem.self)
    print(try await online.count(online.query), "on the server")       // every call is a request
    service.signOut()                                                  // forgets the token, ends what is under way
    // README: end
}

/// The same for what comes last.
func readmeSigningOut(_ store: EncryptedStore, _ folder: StoreFolder, _ passphrase: PassphraseUnlocker) async throws {
    // README: Signing out
    await store.lock()                                    // running transactions end, the keys leave memory
    try await folder.unlock(store, with: passphrase)      // the same object goes on
    await store.close()
    try await folder.wipe()                               // or: gone for good, copies made before excepted
    // README: end
}
