import Foundation
import SealedSync

// The code of the articles about coming from another library, and of modules' pages, word for word.

private struct Job: SyncItem {
    var id = ""
    var taskName: String
}

private struct JobOfRealm {
    var id: String
    var taskName: String
}

private func fromRealm(_ context: SyncContext, _ jobs: SyncTable<Job>, _ jobsOfRealm: [JobOfRealm]) async throws {
    let taken = jobsOfRealm.map { Job(id: $0.id, taskName: $0.taskName) }  // values, which may leave Realm's thread
    try await context.write { tx in try tx.insert(contentsOf: taken, into: jobs) }
}

private struct Player: SyncItem {
    var id = ""
    var name: String
}

private func fromGRDB(_ folder: StoreFolder, _ plaintext: URL, _ unlocker: PassphraseUnlocker) async throws -> Int {
    let schema = try StoreSchema([TableDefinition(Player.self)])
    let result = try await folder.encrypt(plaintext, unlocker: unlocker, schema: schema)
    return result.tables.count
}

private func fromGRDB(_ context: SyncContext, _ players: SyncTable<Player>, _ batch: [Player]) async throws {
    try await context.write { tx in
        try tx.insert(contentsOf: batch, into: players)
    }
}

private protocol Account: Sendable {
    func token() async throws -> String
}

private func adapter(_ account: any Account) throws -> DatasyncRemote {
    let remote: DatasyncRemote = try .datasync("https://todos.example.org") { AccessToken(try await account.token()) }
    return remote
}
