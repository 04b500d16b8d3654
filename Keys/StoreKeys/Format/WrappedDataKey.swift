import SecretMemory

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A data key under the root key, as it stands in the file.
package struct WrappedDataKey: Sendable {
    package enum Role: UInt8, Sendable {
        /// Opens the database.
        case current = 1
        /// Will open the database when a rotation that has begun is finished.
        case pending = 2
    }

    package let role: Role
    package let id: RandomIdentifier
    /// When the key was made, in milliseconds since 1970; negative for one that is overdue for replacement.
    package let createdMilliseconds: Int64
    package let nonce: [UInt8]
    package var wrappedKey: [UInt8] = []

    var created: Date { Date(timeIntervalSince1970: Double(createdMilliseconds.magnitude) / 1000) }

    /// Whether the key was to be replaced, because others may have it, when the rotation was interrupted.
    ///
    /// The sign of the time says so: no key was made before 1970. A version that does not know this takes the key for
    /// very old, and a rotation for due, which is right.
    var isOverdue: Bool { createdMilliseconds < 0 }
}

/// A data key about to be wrapped.
struct NewDataKey: Sendable {
    let key: SecretBytes
    let id: RandomIdentifier
    let createdMilliseconds: Int64

    init(key: SecretBytes, id: RandomIdentifier, createdMilliseconds: Int64) {
        self.key = key
        self.id = id
        self.createdMilliseconds = createdMilliseconds
    }

    /// Makes a key.
    init(random: RandomSource) throws {
        key = try random.makeSecret()
        id = try random.makeIdentifier()
        createdMilliseconds = Date().milliseconds
    }
}

extension Date {
    /// This instant as it is written into files: whole milliseconds since 1970, and none before, whatever the clock says.
    var milliseconds: Int64 { max(0, Int64(timeIntervalSince1970 * 1000)) }
}
