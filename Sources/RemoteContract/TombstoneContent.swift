/// Whether it matters what a deleted row holds.
///
/// What a tombstone was before is nobody's business, so that a remote reads one that does not fit its table without its content.
/// Whoever is to bring it back with that content says so: it would come back empty.
package enum TombstoneContent {
    /// Whether the calling task needs it: false where nobody says otherwise.
    @TaskLocal package static var isWanted = false
}
