#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One way to open a keyslot file: the root key, wrapped by an unlocker's secret.
public struct Keyslot: Sendable, Identifiable {
    /// The name of the slot within its file.
    public let id: RandomIdentifier
    /// Which kind of unlocker opens the slot.
    public let kind: SlotKind
    /// What the app calls the slot, readable by anyone who can read the file; may be empty.
    public let label: String
    /// When the slot was made, in milliseconds since 1970.
    package let createdMilliseconds: Int64
    /// What the unlocker needs beside its secret, such as salt and costs; not secret.
    public let parameters: [UInt8]

    package let nonce: [UInt8]
    package var wrappedRootKey: [UInt8] = []

    /// When the slot was made, by the clock of the machine that made it.
    public var created: Date { Date(timeIntervalSince1970: Double(createdMilliseconds) / 1000) }
}
