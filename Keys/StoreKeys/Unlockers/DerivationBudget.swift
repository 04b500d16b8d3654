/// What one opening may still spend on key derivation.
///
/// A keyslot file is read before anybody can vouch for it: it may have 32 slots, and each may ask for the most that one slot
/// may cost. The sum over the slots that an unlocker tries is bounded as well.
struct DerivationBudget {
    private var remaining: Int

    init(of unlocker: any StoreUnlocker) {
        remaining = unlocker.maximumDerivationWork
    }

    /// Counts the cost of a slot that is about to be tried.
    ///
    /// - Throws: `KeyError` with code `invalidParameters` if it is more than what is left; then it is not to be tried, and
    ///   a cheaper one may be.
    mutating func spend(on slot: Keyslot, with unlocker: any StoreUnlocker) throws(KeyError) {
        let work = unlocker.derivationWork(of: slot)
        guard work <= remaining else {
            throw KeyError(
                .invalidParameters,
                "To try another slot of the kind \(unlocker.slotKind) would cost more than one opening may (work of "
                    + "\(unlocker.maximumDerivationWork) in all). If the file has so many or such dear slots on purpose, raise "
                    + "the unlocker's maximum; if not, it was tampered with."
            )
        }
        remaining -= work
    }
}
