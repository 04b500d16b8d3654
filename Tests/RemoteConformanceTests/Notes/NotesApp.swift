import OfflineSync
import SyncContract

/// What an app writes to use the remote.
func contextOfNotes(_ store: any SyncContextDataSource) -> SyncContext {
    let context = SyncContext(store: store, remote: NotesRemote(host: "notes.example"))
    return context
}
