#if Keychain && canImport(Security)
internal import Foundation
internal import Security
internal import SecretMemory
internal import StoreKeys

/// The item of one slot in the data protection keychain. Its calls block.
struct KeychainItem: Sendable {
    static let nameCount = 16
    static let secretCount = 32

    private let service: String
    private let account: String

    init(service: String, storeID: RandomIdentifier, name: [UInt8]) {
        self.service = service
        let digits = name.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        account = "\(storeID)/\(digits)"
    }

    /// The item that a slot names, in a file that nobody has vouched for yet.
    init(of slot: Keyslot, service: String, storeID: RandomIdentifier) throws(KeyError) {
        guard slot.parameters.count == Self.nameCount else {
            throw KeyError(.invalidParameters, "A slot of the Keychain names its item with \(Self.nameCount) bytes.")
        }
        self.init(service: service, storeID: storeID, name: slot.parameters)
    }

    private var query: [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: service,
            kSecAttrAccount: account,
            kSecUseDataProtectionKeychain: true,
        ]
    }

    func add(_ secret: SecretBytes, asksUser: Bool, needsPasscode: Bool) throws {
        let control = unsafe SecAccessControlCreateWithFlags(
            nil,
            needsPasscode
                ? kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly : kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            asksUser ? .userPresence : [],
            nil
        )
        guard let control else { throw Self.refusal(errSecParam) }
        var content = unsafe secret.withUnsafeBytes { unsafe Data($0) }
        defer { content.resetBytes(in: 0..<content.count) }
        var attributes = query
        attributes[kSecAttrAccessControl] = control
        attributes[kSecValueData] = content
        let status = unsafe SecItemAdd(attributes as CFDictionary, nil)
        guard status == errSecSuccess else { throw Self.refusal(status) }
    }

    func read() throws -> SecretBytes {
        var request = query
        request[kSecReturnData] = true
        request[kSecMatchLimit] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = unsafe SecItemCopyMatching(request as CFDictionary, &result)
        guard status == errSecSuccess, var content = result as? Data else { throw Self.refusal(status) }
        defer { content.resetBytes(in: 0..<content.count) }
        guard content.count == Self.secretCount else { throw Self.refusal(errSecDecode) }
        return try unsafe SecretBytes(count: content.count) { bytes in unsafe bytes.copyBytes(from: content) }
    }

    func delete() throws {
        let status = SecItemDelete(query as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.refusal(status) }
    }

    private static func refusal(_ status: OSStatus) -> any Error {
        let sentence =
            switch status {
            case errSecItemNotFound:
                "The Keychain has no item for this slot: it is another device's or app's, or was deleted."
            case errSecUserCanceled, errSecAuthFailed: "Nobody answered the Keychain's question."
            case errSecInteractionNotAllowed: "The device is locked, or nobody can be asked now."
            case errSecMissingEntitlement: "The app is not signed with an entitlement for the Keychain."
            default: "The Keychain refuses (OSStatus \(status))."
            }
        return KeyError(.secretUnavailable, sentence)
    }
}
#endif
