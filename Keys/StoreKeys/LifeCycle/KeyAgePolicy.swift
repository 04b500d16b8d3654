#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How old keys may become.
///
/// The ages follow NIST SP 800-57, part 1: two years for a key that encrypts data, one for a key that wraps others. They
/// are a recommendation to ask for a rotation; nothing stops working.
public struct KeyAgePolicy: Sendable, Hashable {
    /// The age at which the data key should be rotated, in seconds.
    public var maximumDataKeyAge: TimeInterval
    /// The age at which a slot should be made anew, with another passphrase for instance, in seconds.
    public var maximumSlotAge: TimeInterval

    /// Two years for the data key, one for a slot.
    public static let standard = KeyAgePolicy(maximumDataKeyAge: 2 * year, maximumSlotAge: year)

    private static let year: TimeInterval = 365 * 24 * 60 * 60

    /// Creates a policy.
    public init(maximumDataKeyAge: TimeInterval, maximumSlotAge: TimeInterval) {
        self.maximumDataKeyAge = maximumDataKeyAge
        self.maximumSlotAge = maximumSlotAge
    }

    /// Judges the ages of a file's keys. No secret is needed; the times are as trustworthy as the file and the clocks.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - now: The time to judge by.
    /// - Returns: The ages, and what is due.
    public func report(on file: KeyslotFile, at now: Date = Date()) -> KeyAgeReport {
        // A key from the future was made under a clock that was wrong; it is taken for new.
        let age = max(0, now.timeIntervalSince(file.dataKeyCreated))
        return KeyAgeReport(
            dataKeyAge: age,
            isDataKeyRotationDue: file.isRotationOverdue || age >= maximumDataKeyAge,
            slotsDue: file.slots.filter { now.timeIntervalSince($0.created) >= maximumSlotAge }
        )
    }
}

/// The ages of a file's keys, judged by a policy.
public struct KeyAgeReport: Sendable {
    /// The age of the data key in seconds; 0 for one from the future.
    public let dataKeyAge: TimeInterval
    /// Whether the data key should be rotated: for its age, or because ``KeyslotFile/isRotationOverdue``.
    public let isDataKeyRotationDue: Bool
    /// The slots that should be made anew.
    public let slotsDue: [Keyslot]
}
