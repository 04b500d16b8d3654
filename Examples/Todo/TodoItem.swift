import Foundation
import SealedSync

struct TodoItem: SyncItem {
    var id = ""
    var text: String
    var complete = false
}

/// The list of whoever knows the passphrase, and the service at an address.
func openTodos(_ passphrase: String, _ address: String) async throws -> SyncContext {
    try await SyncContext.open(
        .named("org.example.todo"),
        schema: [.init(TodoItem.self)],
        unlocker: .passphrase(SecretBytes(passphrase)),
        remote: .datasync(address)
    )
}
