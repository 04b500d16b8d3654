import SecretMemory

extension StoreUnlocker {
    /// The secret of a slot, of the right size, with errors of the documented kinds.
    func checkedSecret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        let secret: SecretBytes
        do {
            secret = try await self.secret(of: slot, storeID: storeID)
        } catch {
            throw Self.documented(error)
        }
        try Self.checkSize(of: secret)
        return secret
    }

    /// The older form, with errors of the documented kinds.
    func checkedOlderForm() async throws -> (any StoreUnlocker)? {
        do {
            return try await olderForm()
        } catch {
            throw Self.documented(error)
        }
    }

    /// A new slot's enrollment, within its limits, with errors of the documented kinds.
    func checkedEnrollment(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let enrollment: SlotEnrollment
        do {
            enrollment = try await enroll(storeID: storeID)
        } catch {
            throw Self.documented(error)
        }
        try Self.checkSize(of: enrollment.secret)
        guard
            enrollment.parameters.count <= KeyslotFile.Limit.parameters,
            slotLabel.utf8.count <= KeyslotFile.Limit.label
        else {
            throw KeyError(
                .invalidParameters,
                "A slot has a label of at most \(KeyslotFile.Limit.label) bytes and parameters of at most "
                    + "\(KeyslotFile.Limit.parameters)."
            )
        }
        return enrollment
    }

    private static func checkSize(of secret: SecretBytes) throws(KeyError) {
        guard secret.count == AES256GCM.keyCount else {
            throw KeyError(
                .invalidParameters,
                "An unlocker gives \(AES256GCM.keyCount) secret bytes per slot, not \(secret.count)."
            )
        }
    }

    private static func documented(_ error: any Error) -> any Error {
        switch error {
        case is KeyError, is CancellationError, is SecretMemoryError: error
        default: KeyError(.secretUnavailable, "The unlocker could not give its secret.", cause: error)
        }
    }
}
