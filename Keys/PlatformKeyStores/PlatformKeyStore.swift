package import StoreKeys

#if SecretService && os(Linux)
internal import SecretServiceKeys
#endif
#if KernelKeyring && os(Linux)
internal import KernelKeyringKeys
#endif
#if TPM && os(Linux)
internal import Foundation
internal import TPMKeys
#endif

/// A key store of the platform that the tool has commands for, whether this build can use it or not.
package enum PlatformKeyStore: CaseIterable, Sendable {
    case secretService, keyring, tpm

    /// The variable that says how a TPM is reached, when it is not the machine's.
    package static let transportVariable = "SEALEDSYNC_TPM"

    /// The kind of its slots.
    package var slotKind: SlotKind {
        switch self {
        case .secretService: .secretService
        case .keyring: .kernelKeyring
        case .tpm: .tpm
        }
    }

    /// As it stands in a sentence.
    package var name: String {
        switch self {
        case .secretService: "the Secret Service"
        case .keyring: "the kernel's keyring"
        case .tpm: "a TPM"
        }
    }

    /// The package trait with which a build can use it.
    package var trait: String {
        switch self {
        case .secretService: "SecretService"
        case .keyring: "KernelKeyring"
        case .tpm: "TPM"
        }
    }

    /// The unlocker, or `nil` if this was built without it.
    package func unlocker(label: String = "") -> (any StoreUnlocker)? {
        switch self {
        case .secretService:
            #if SecretService && os(Linux)
            SecretServiceUnlocker(label: label)
            #else
            nil
            #endif
        case .keyring:
            #if KernelKeyring && os(Linux)
            KernelKeyringUnlocker(label: label)
            #else
            nil
            #endif
        case .tpm:
            #if TPM && os(Linux)
            TPMUnlocker(transport: Self.transport, label: label)
            #else
            nil
            #endif
        }
    }

    #if TPM && os(Linux)
    private static var transport: String {
        let named = ProcessInfo.processInfo.environment[transportVariable] ?? ""
        return named.isEmpty ? TPMUnlocker.systemTransport : named
    }
    #endif
}
