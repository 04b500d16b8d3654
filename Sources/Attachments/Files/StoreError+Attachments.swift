internal import DurableFiles
internal import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension StoreError {
    /// The error for a file that is to be taken in and cannot be read.
    static func unreadable(_ path: String, _ failure: SystemCallFailure) -> StoreError {
        StoreError(.notFound, "'\(path)' cannot be read; check the path and its permissions.", cause: failure)
    }

    /// The error for a file or folder of attachments that cannot be removed.
    static func notRemoved(_ path: String, _ failure: SystemCallFailure) -> StoreError {
        let isRefused = [EACCES, EPERM, EROFS].contains(failure.number)
        return StoreError(
            isRefused ? .readOnly : .inputOutput,
            "'\(path)' could not be removed; \(isRefused ? "make its folder writable" : "look at the medium"), and repeat.",
            cause: failure
        )
    }

    /// A damaged file that the server has, too; it is fetched again, but in a context without a server.
    static func damaged(isFetched: Bool) -> StoreError {
        StoreError(
            .damaged,
            "The file of an attachment is damaged, or was put there by somebody else, and the server has it; "
                + (isFetched
                    ? "it is fetched again, as soon as that can be: fetch it, or read it again."
                    : "open the context with its server, and read it again.")
        )
    }

    /// A damaged file that the server does not have. It stays.
    static func lastCopyDamaged(_ name: String) -> StoreError {
        StoreError(
            .damaged,
            "The file '\(AttachmentFolder.name)/\(name)' is damaged, or was put there by somebody else, and the server does not"
                + " have it; put it back from a backup, or add its content anew. What is left of it stays."
        )
    }

    /// Damaged files that could not be encrypted anew.
    static func damagedKeepKeys(_ count: Int) -> StoreError {
        let files =
            count == 1
            ? "1 attachment is damaged and keeps its key" : "\(count) attachments are damaged and keep their keys"
        return StoreError(
            .damaged,
            "\(files); the others have new ones. A verification names them: put them back from a backup, or open the store with its"
                + " server, which may have them."
        )
    }

    /// What a failure of the system means for a file.
    init(attachmentFailure failure: SystemCallFailure) {
        switch failure.number {
        case ENOSPC, EDQUOT, EFBIG:
            self.init(.full, "There is no space left for the file of an attachment; make room.", cause: failure)
        case ENOENT:
            self.init(.notFound, "The file of an attachment is missing; restore it from a backup.", cause: failure)
        case EACCES, EPERM, EROFS:
            self.init(
                .readOnly,
                "The folder of the attachments may not be used as it is; check its permissions and whose it is.",
                cause: failure
            )
        default: self.init(.inputOutput, "The system failed on the file of an attachment.", cause: failure)
        }
    }
}
