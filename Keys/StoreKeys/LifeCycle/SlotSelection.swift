/// Which slots stay when the root key is renewed, and what takes the place of those that do not.
struct SlotSelection: Sendable {
    /// Opens a slot, be it one that stays or not.
    var authorizer: (any StoreUnlocker)?
    /// What is to open the store from then on as well.
    let kept: [any StoreUnlocker]
    var revoked: Set<Keyslot.ID> = []
    var replacement: (any StoreUnlocker)?
    let dropsMissing: Bool

    var unlockers: [any StoreUnlocker] { [authorizer].compactMap(\.self) + kept }

    /// Throws when a slot that is to be revoked is not there.
    func checkSlots(of file: KeyslotFile) throws(KeyError) {
        guard revoked.isSubset(of: file.slots.map(\.id)) else { throw .noSuchSlot }
    }

    /// Throws when a slot that stays cannot be given the new root key, nothing reliable would stay, or a revoked secret
    /// would.
    func checkUnlockers(of file: KeyslotFile, _ opened: OpenedSlots) throws(KeyError) {
        try checkNoneIsRevoked(of: file, opened)
        try opened.checkFailures(of: file, sparing: revoked)
        let missing = dropsMissing ? [] : missing(of: file, opened)
        guard missing.isEmpty else {
            throw KeyError(
                .missingUnlocker,
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
                    "The secret of \(file.name(of: opening.slot)), which is to be revoked, also opens "
                        + "\(file.names(of: shared.map(\.slot))); nothing was written. Revoke all of them."
                )
            }
        }
    }

    /// Throws when an unlocker that is to open the store from then on would not: the slots are then not those that were
    /// meant. After a run that was interrupted, a slot has another place.
    private func checkNoneIsRevoked(of file: KeyslotFile, _ opened: OpenedSlots) throws(KeyError) {
        for place in unlockers.indices.dropFirst(authorizer == nil ? 0 : 1) {
            let slots = opened.slots.filter { $0.unlockers.contains(place) }.map(\.slot)
            guard slots.allSatisfy({ revoked.contains($0.id) }) else { continue }
            throw KeyError(
                .invalidParameters,
                "An unlocker that is to stay opens nothing but \(file.names(of: slots)), which is to be revoked; nothing "
                    + "was written. Look at the slots again: they may have changed since."
            )
        }
    }

    /// The slots that are not revoked and that none of the unlockers opens.
    func missing(of file: KeyslotFile, _ opened: OpenedSlots) -> [Keyslot] {
        file.slots.filter { slot in
            !revoked.contains(slot.id) && !opened.slots.contains { $0.slot.id == slot.id }
        }
    }
}

extension OpenedSlots {
    /// Throws when a slot would be lost because its unlocker failed, and not because it is not there.
    func checkFailures(of file: KeyslotFile, sparing revoked: Set<Keyslot.ID>) throws(KeyError) {
        for slot in file.slots where !revoked.contains(slot.id) {
            guard let failure = failures[slot.id] else { continue }
            throw KeyError(
                failure.code,
                "An unlocker of \(file.name(of: slot)) failed, and without it the slot would be lost; nothing was "
                    + "written. Try again when it works, or revoke the slot. \(failure.message)",
                cause: failure
            )
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
        KeyError(.invalidParameters, "The keyslot file has no such slot; list its slots.")
    }
}
