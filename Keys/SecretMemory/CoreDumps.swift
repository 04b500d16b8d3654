#if os(Linux) || os(Android)
import CProcessControl
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Whether the system may write this process's memory to a file when it crashes.
///
/// Secrets (``SecretBytes``) are left out of such files anyway, on Linux. What else an open store has in memory is in them:
/// decrypted pages and rows, and in SQLCipher's connections the key of the database, raw and as text.
public enum CoreDumps {
    /// Forbids it, for the rest of the process's life: the largest core file is 0 bytes (`RLIMIT_CORE`), and on Linux the
    /// process is not dumpable (`PR_SET_DUMPABLE`), which also keeps other processes of the same user from attaching to it and
    /// from reading its memory. Call it before a secret is read.
    ///
    /// On Linux debuggers and profilers cannot attach from then on, unless they are the superuser's. Child processes have the
    /// limit, too, and are dumpable again once they run another program.
    ///
    /// - Throws: `SecretMemoryError` with code `unprotected` if the system refuses. Nothing needs to be undone.
    public static func forbid() throws(SecretMemoryError) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard unsafe setrlimit(resource, &none) == 0 else { throw refusal("RLIMIT_CORE", errno) }
        #if os(Linux) || os(Android)
        guard process_set_dumpable(0) == 0 else { throw refusal("PR_SET_DUMPABLE", errno) }
        #endif
    }

    /// Whether they are forbidden, by ``forbid()`` or otherwise.
    public static var areForbidden: Bool {
        var limit = rlimit()
        guard unsafe getrlimit(resource, &limit) == 0, limit.rlim_max == 0 else { return false }
        #if os(Linux) || os(Android)
        return process_is_dumpable() == 0
        #else
        return true
        #endif
    }

    #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
    private static let resource = RLIMIT_CORE
    #endif

    private static func refusal(_ call: String, _ number: Int32) -> SecretMemoryError {
        SecretMemoryError(
            .unprotected,
            "The system does not let this process forbid core files (\(call), errno \(number)); what an open store has in "
                + "memory may get into one. Forbid them for the whole system, or go on."
        )
    }
}
