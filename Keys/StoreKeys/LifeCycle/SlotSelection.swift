/// Which slots stay when the root key is renewed, and what takes the place of those that do not.
struct SlotSelection: Sendable {
    let unlockers: [any StoreUnlocker]
    var revoked: Set<Keyslot.ID> = []
    var replacement: (any StoreUnlocker)?
    let dropsMissing: Bool

    /// Throws when a slot that is to be revoked is not there.
    func checkSlots(of file: KeyslotFile) throws(KeyError) {
        guard revoked.isSubset(of: file.slots.map(\.id)) else { throw .noSuchSlot }
    }

    /// Throws when a slot that stays cannot be given the new root key, nothing reliable would stay, or a revoked secret
    /// would.
    func checkUnlockers(of file: KeyslotFile, _ opened: OpenedSlots) throws(KeyError) {
        let missing = dropsMissing ? [] : missing(of: file, opened)
        guard missing.isEmpty else {
            throw KeyError(
                .missingUnlocker,
                message:
                    "None of the unlockers given opens \(file.names(of: missing)), which would have to get the new "
                    + "root key; nothing was written. Give what opens it, or let it go."
            )
        }
        let kept = opened.slots.filter { !revoked.contains($0.slot.id) }
        guard replacement?.survivesRestart == true || kept.contains(where: \.survivesRestart) else {
            throw KeyError.lastReliableSlot("Keep an unlocker that opens a slot that stays, or give a replacement.")
        }
        for opening in opened.slots where revoked.contains(opening.slot.id) {
            let shared = kept.filter { kept in
                kept.slot.kind.hasOneSecretPerUnlocker && !kept.unlockers.isDisjoint(with: opening.unlockers)
            }
            guard shared.isEmpty else {
                throw KeyError(
                    .invalidParameters,
                    message: "The secret of \(file.name(of: opening.slot)), which is to be revoked, also opens "
                        + "\(file.names(of: shared.map(\.slot))); nothing was written. Revoke all of them."
                )
            }
        }
    }

    /// The slots that are not revoked and that none of the unlockers opens.
    func missing(of file: KeyslotFile, _ opened: OpenedSlots) -> [Keyslot] {
        file.slots.filter { slot in
            !revoked.contains(slot.id) && !opened.slots.contains { $0.slot.id == slot.id }
        }
    }
}

extension SlotKind {
    /// Whether an unlocker of this kind has one secret, with which it opens every slot that it opens. A key service, for
    /// instance, has another one for each.
    var hasOneSecretPerUnlocker: Bool { [.passphrase, .secretFile, .recoveryCode].contains(self) }
}

extension KeyslotFile {
    /// A slot as messages call it, by its number from 1: `slot 2 (passphrase-scrypt, Ada's)`.
    func name(of slot: Keyslot) -> String {
        let number = (slots.firstIndex { $0.id == slot.id } ?? 0) + 1
        return "slot \(number) (\(slot.kind)\(slot.label.isEmpty ? "" : ", \(slot.printableLabel)"))"
    }

    func names(of slots: [Keyslot]) -> String { slots.map(name(of:)).joined(separator: ", ") }
}

extension Keyslot {
    /// The label on one line, without what a terminal would take for a command or for another direction of writing.
    fileprivate var printableLabel: String {
        String(
            label.unicodeScalars.map { scalar -> Character in
                let category = scalar.properties.generalCategory
                return category == .control || category == .format ? " " : Character(scalar)
            }
        )
    }
}

extension KeyError {
    static var noSuchSlot: KeyError {
        KeyError(.invalidParameters, message: "The keyslot file has no such slot; list its slots.")
    }
}
