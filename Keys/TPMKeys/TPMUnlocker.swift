#if TPM && os(Linux)
internal import CTSS2
public import SecretMemory
public import StoreKeys

/// Opens a slot with a random secret that a TPM 2.0 has sealed.
///
/// The sealed secret is the slot's parameters; nothing lies in the TPM, and nothing but this TPM unseals it: a disk or a
/// backup without the machine opens nothing. Whoever runs code on the machine that may use the TPM opens the store, since
/// the seal asks for no PIN and for no state of the boot, which an update would change. A TPM that is cleared, or a board
/// that is exchanged, takes the slot with it: let something else open the store as well.
///
/// What goes over the bus to the chip is encrypted under a key of the session that only this TPM can know. A call takes about
/// a second of a slow chip, on a thread that is not of the cooperative pool; a cancelled one that has begun ends with its
/// answer, since a command of a TPM is not given up in the middle.
///
/// The errors are `KeyError`s: `wrongSecret` for a secret that another TPM has sealed, or this one before it was cleared;
/// `secretUnavailable` if the TPM cannot be reached or refuses; `invalidParameters` for a slot that is none.
///
/// tpm2-tss has copies of the secret in memory that it does not lock; they are overwritten before a call ends. It tells
/// failures on standard error, unless the variable `TSS2_LOG` is `all+none`.
public struct TPMUnlocker: StoreUnlocker {
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String
    /// How the TPM is reached, in the words of tpm2-tss.
    public let transport: String

    /// The kind `SlotKind.tpm`.
    public var slotKind: SlotKind { .tpm }

    /// The kernel's resource manager, with which several programs share the machine's TPM.
    public static let systemTransport = "device:/dev/tpmrm0"

    private static let secretCount = 32

    /// Creates an unlocker; the TPM is asked when the unlocker is used.
    ///
    /// - Parameters:
    ///   - transport: How the TPM is reached: a TCTI and its configuration, such as `device:/dev/tpmrm0`, `tabrmd`, or
    ///     `swtpm:path=/run/swtpm.sock`. Whoever answers there is trusted: a TPM over TCP is for tests.
    ///   - label: What the app calls a slot it makes.
    public init(transport: String = systemTransport, label: String = "") {
        self.transport = transport
        slotLabel = label
    }

    /// Has the TPM seal a random secret.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let secret = try SecretBytes.random(count: Self.secretCount)
        let transport = transport
        let blob = try await BlockingWork.run {
            var (blob, count, code) = ([UInt8](repeating: 0, count: ctpm_maximum_blob), 0, TSS2_RC(0))
            let outcome = unsafe secret.withUnsafeBytes { bytes in
                unsafe ctpm_seal(transport, bytes.baseAddress, bytes.count, &blob, &count, &code)
            }
            try Self.check(outcome, code, transport)
            return Array(blob[..<count])
        }
        return SlotEnrollment(secret: secret, parameters: blob)
    }

    /// Has the TPM unseal the slot's secret.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        let (transport, blob) = (transport, slot.parameters)
        return try await BlockingWork.run {
            try unsafe SecretBytes(count: Self.secretCount) { bytes in
                var code = TSS2_RC(0)
                let outcome = unsafe ctpm_unseal(
                    transport,
                    blob,
                    blob.count,
                    bytes.baseAddress,
                    bytes.count,
                    &code
                )
                try Self.check(outcome, code, transport)
            }
        }
    }

    private static func check(_ outcome: ctpm_outcome, _ code: TSS2_RC, _ transport: String) throws(KeyError) {
        let number = String(code, radix: 16)
        switch outcome {
        case ctpm_done: return
        case ctpm_other_tpm:
            throw KeyError(
                .wrongSecret,
                "Another TPM has sealed the slot's secret, or this one before it was cleared. Open the store with something "
                    + "else and replace the slot."
            )
        case ctpm_malformed:
            throw KeyError(.invalidParameters, "The slot's parameters are not what a TPM has sealed for this library.")
        case ctpm_unreachable:
            throw KeyError(
                .secretUnavailable,
                "There is no TPM at '\(transport)', or this user may not use it (0x\(number)); on many systems the "
                    + "group 'tss' may."
            )
        default:
            throw KeyError(
                .secretUnavailable,
                "The TPM at '\(transport)' refuses (0x\(number)). A password for its owner hierarchy keeps it from making its "
                    + "storage key."
            )
        }
    }
}

#else

/// Opens a slot with a random secret that a TPM 2.0 has sealed; only with the package trait `TPM`.
@available(*, unavailable, message: "Depend on the package with traits: [\"TPM\"]; it needs Linux and tpm2-tss.")
public struct TPMUnlocker {}
#endif
