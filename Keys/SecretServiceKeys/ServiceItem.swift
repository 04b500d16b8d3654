#if SecretService && os(Linux)
internal import StoreKeys

/// Which item of the service a slot's secret is.
struct ServiceItem: Sendable {
    static let nameCount = 16
    static let secretCount = 32

    let storeID: RandomIdentifier
    /// Random; what the slot's parameters are.
    let slotName: [UInt8]

    init(storeID: RandomIdentifier, slotName: [UInt8]) {
        self.storeID = storeID
        self.slotName = slotName
    }

    /// The item that a slot names, in a file that nobody has vouched for yet.
    init(of slot: Keyslot, storeID: RandomIdentifier) throws(KeyError) {
        guard slot.parameters.count == Self.nameCount else {
            throw KeyError(
                .invalidParameters,
                "A slot of this kind names its item with \(Self.nameCount) bytes."
            )
        }
        self.init(storeID: storeID, slotName: slot.parameters)
    }

    var storeAttribute: String { "\(storeID)" }

    var slotAttribute: String {
        slotName.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

extension [UInt8] {
    /// Public bytes that are not to be met twice.
    static func random(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in generator.next() }
    }
}
#endif
