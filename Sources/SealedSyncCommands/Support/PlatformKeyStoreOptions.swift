internal import CommandArguments
internal import PlatformKeyStores
internal import SealedSync

/// Which key store of the platform opens a store.
struct PlatformKeyStoreOptions: ParsableArguments {
    @Flag(help: "Open the store with what the Secret Service keeps.")
    var secretService = false

    @Flag(help: "Open the store with what the kernel's keyring has.")
    var keyring = false

    @Flag(help: "Open the store with the machine's TPM.")
    var tpm = false

    /// Those that are named.
    var stores: [PlatformKeyStore] {
        PlatformKeyStore.named(secretService: secretService, keyring: keyring, tpm: tpm)
    }
}

extension PlatformKeyStore {
    static func named(secretService: Bool, keyring: Bool, tpm: Bool) -> [PlatformKeyStore] {
        allCases.filter { keyStore in
            switch keyStore {
            case .secretService: secretService
            case .keyring: keyring
            case .tpm: tpm
            }
        }
    }

    /// The option that opens a store with it.
    var option: String {
        switch self {
        case .secretService: "--secret-service"
        case .keyring: "--keyring"
        case .tpm: "--tpm"
        }
    }

    /// The unlocker, or a failure that says how to build a tool that has it.
    func requiredUnlocker(label: String = "") throws -> any StoreUnlocker {
        guard let unlocker = unlocker(label: label) else {
            throw ToolError(
                "notBuilt",
                "This tool was built without \(name); 'swift build --product sealedsync --traits \(trait)' builds one with it."
            )
        }
        return unlocker
    }
}
