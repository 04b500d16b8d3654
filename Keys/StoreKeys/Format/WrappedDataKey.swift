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
    package let createdMilliseconds: Int64
    package let nonce: [UInt8]
    package var wrappedKey: [UInt8] = []

    var created: Date { Date(timeIntervalSince1970: Double(createdMilliseconds) / 1000) }
}

/// A data key about to be wrapped.
struct NewDataKey: Sendable {
    let key: SecretBytes
    let id: RandomIdentifier
    let createdMilliseconds: Int64
}

extension Date {
    /// This instant as it is written into files: whole milliseconds since 1970.
    var milliseconds: Int64 { Int64(timeIntervalSince1970 * 1000) }
}
