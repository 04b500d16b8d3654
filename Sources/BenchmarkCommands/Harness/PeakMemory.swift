internal import Foundation

enum PeakMemory {
    /// The most memory that the process has had so far, in bytes.
    static var bytes: Int {
        var usage = rusage()
        #if canImport(Darwin)
        _ = unsafe getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss
        #else
        _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss * 1_024
        #endif
    }
}
