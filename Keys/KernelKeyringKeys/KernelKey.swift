#if KernelKeyring && os(Linux)
internal import CKernelKeyring
internal import Glibc
internal import SecretMemory
internal import StoreKeys

/// The key of one slot in the kernel.
struct KernelKey {
    static let nameCount = 16
    static let secretCount = 32
    private static let threadKeyring: Int32 = -1
    private static let userKeyring: Int32 = -4

    /// What the slot's parameters are; random.
    let name: [UInt8]
    /// Under which the kernel finds the key; it is of one store and one slot.
    let description: String

    init(storeID: RandomIdentifier) {
        var generator = SystemRandomNumberGenerator()
        self.init(storeID: storeID, name: (0..<Self.nameCount).map { _ in generator.next() })
    }

    /// The key that a slot names, in a file that nobody has vouched for yet.
    init(of slot: Keyslot, storeID: RandomIdentifier) throws(KeyError) {
        guard slot.parameters.count == Self.nameCount else {
            throw KeyError(
                .invalidParameters,
                "A slot of this kind names its key with \(Self.nameCount) bytes."
            )
        }
        self.init(storeID: storeID, name: slot.parameters)
    }

    private init(storeID: RandomIdentifier, name: [UInt8]) {
        self.name = name
        let digits = name.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        description = "sealedsync:\(storeID):\(digits)"
    }

    /// Adds the key. It is made in the thread's keyring, since only who possesses a key may change it, and a session need not
    /// hold the user's keyring; it appears in its place when it is as it is to be.
    func add(_ secret: SecretBytes, timeToLive: UInt32?) throws(KeyError) {
        let key = try unsafe secret.withUnsafeBytes { (bytes) throws(KeyError) in
            try unsafe check(keyring_add(Self.threadKeyring, description, bytes.baseAddress, bytes.count))
        }
        defer { _ = keyring_unlink(Self.threadKeyring, key) }
        try check(keyring_set_permissions(key))
        if let timeToLive { try check(keyring_set_timeout(key, timeToLive)) }
        try check(keyring_link(Self.userKeyring, key))
    }

    func read() throws -> SecretBytes {
        let key = try unsafe check(keyring_search(Self.userKeyring, description))
        return try unsafe SecretBytes(count: Self.secretCount) { bytes in
            let count = try unsafe check(keyring_read(key, bytes.baseAddress, bytes.count))
            guard count == bytes.count else {
                throw KeyError(
                    .secretUnavailable,
                    "The key '\(description)' in the kernel's keyring is not one that this library has added."
                )
            }
        }
    }

    func remove() throws(KeyError) {
        let key = unsafe keyring_search(Self.userKeyring, description)
        if key < 0, [ENOKEY, EKEYEXPIRED, EKEYREVOKED].contains(errno) { return }
        try check(keyring_unlink(Self.userKeyring, check(key)))
    }

    /// The kernel's answer, or what its refusal means.
    @discardableResult
    private func check(_ answer: Int) throws(KeyError) -> Int {
        guard answer < 0 else { return answer }
        let remedy = "Open the store with something else and replace the slot."
        let sentence =
            switch errno {
            case ENOKEY:
                "The kernel's keyring has no key '\(description)': it is another user's, or the machine was started anew. "
                    + remedy
            case EKEYEXPIRED: "The key '\(description)' in the kernel's keyring has expired. \(remedy)"
            case EKEYREVOKED: "The key '\(description)' in the kernel's keyring was revoked. \(remedy)"
            case EDQUOT: "The user's share of the kernel's keyrings is used up (/proc/key-users)."
            default: "The kernel refuses its keyring (errno \(errno)); a container may forbid it."
            }
        throw KeyError(.secretUnavailable, sentence)
    }
}
#endif
