import Foundation
import ReferenceStore
import SealedSync

// The code of the articles "Several changes as one", "Conflicts", "Servers", "Syncing by itself" and "Writing a store", word for word.

private func everything(_ store: MemoryStore, _ remote: DatasyncRemote) -> SyncContext {
    let context = SyncContext(store: store, remote: remote)
    return context
}

private func groups(_ context: SyncContext, _ todos: SyncTable<TodoItem>, _ guests: [String]) async throws {
    try await context.write { tx in
        let party = try tx.insert(TodoItem(text: "Party"), into: todos)
        try tx.insert(contentsOf: guests.map { TodoItem(text: "Invite \($0), for \(party.text)") }, into: todos)
        try tx.delete(todos.where { $0.complete })
    }
}

private func conflicts(_ context: SyncContext, _ todos: SyncTable<TodoItem>) async throws {
    let report = try await context.sync()
    for error in report.notTaken { print(error.message) }

    for error in try await todos.operationErrors() where error.isConflict {
        print("mine:", error.item?.text ?? "deleted", "theirs:", error.serverItem?.text ?? "deleted")
    }
    for error in try await todos.operationErrors() {
        try await context.resolve(error, with: .keepMine)
    }
}

private func policies(_ context: SyncContext, _ todos: SyncTable<TodoItem>) {
    context.conflictPolicy = .serverWins
    todos.conflictPolicy = .merge { conflict in
        // Nil leaves it stored: the server's row is there, and no `TodoItem` can be made of it.
        guard var merged = conflict.serverItem, let mine = conflict.item else {
            return conflict.isDeletedOnServer || conflict.kind == .delete ? .takeServer : nil
        }
        if mine.text != conflict.baseItem?.text { merged.text = mine.text }
        merged.complete = mine.complete || merged.complete
        return .keepMerged(merged)
    }
}

private struct Account: Sendable {
    var token: String
    var end: Date
}

private protocol Accounts: Sendable {
    var current: Account? { get async }
}

private func signingIn(_ accounts: any Accounts) throws -> DatasyncRemote {
    let service: DatasyncRemote = try .datasync("https://example.org") {
        guard let account = await accounts.current else { return nil }  // nobody is signed in
        return AccessToken(account.token, expires: account.end)
    }
    return service
}

private struct Completed: Decodable, Sendable { var count: Int }

private func online(_ context: SyncContext) async throws -> Completed {
    let online = try context.remoteTable(TodoItem.self)
    print(try await online.where { $0.complete }.count(), "done on the server")
    let answer = try await context.invokeAPI("completeAll", body: ["before": "2026-01-01"], as: Completed.self)
    return answer
}

private struct SharedItem: SyncItem {
    var id = ""
    var userID: String
}

private func pulling(_ todos: SyncTable<SharedItem>, _ user: String) async throws {
    try await todos.where { $0.userID == user }.pull()
    try await todos.pull(options: PullOptions(reconciles: true))
}

private protocol BackgroundTask { func setTaskCompleted(success: Bool) }
private protocol ProgressBar: AnyObject { var value: Double { get set } }

private func session(_ context: SyncContext) {
    let session = context.session
    session.start(options: SessionOptions(pullInterval: .seconds(60)))
}

private func states(_ session: SyncSession, show: (Any) -> Void, showSignIn: () -> Void) async {
    for await state in session.states {
        switch state {
        case .backingOff(let date): show("next attempt at \(date)")
        case .waitingForCredentials: showSignIn()
        case .failed: show(session.error as Any)
        default: break
        }
    }
}

private func waiting(_ session: SyncSession, _ bar: any ProgressBar) async throws {
    try await session.wait(for: .upload, timeout: .seconds(30))
    for await progress in session.progress(for: .both, mode: .forCurrentlyOutstandingWork) {
        bar.value = progress.progressEstimate
    }
}

private func background(_ context: SyncContext, _ task: any BackgroundTask) async throws {
    // iOS: in the handler of a BGAppRefreshTask.
    let report = try await context.session.sync(within: .seconds(25))
    task.setTaskCompleted(success: report.isComplete)
}

private func resets(_ session: SyncSession, show: @escaping @Sendable (String) -> Void) {
    session.start(
        options: SessionOptions(
            resetMode: .recoverUnsyncedChanges(
                before: { context in show("\(try await context.status().pending) changes are kept") },
                after: { context, report in show("\(report.recovered) of \(report.waiting) are sent again") }
            ),
            maximumOfflineTime: .seconds(90 * 86_400)
        )
    )
}
