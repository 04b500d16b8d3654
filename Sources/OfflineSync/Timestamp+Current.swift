#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

internal import SyncContract

extension Timestamp {
    /// Now, by this device's clock.
    static var current: Timestamp { Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)) }
}
