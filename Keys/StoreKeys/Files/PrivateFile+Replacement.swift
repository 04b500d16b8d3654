#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension PrivateFile {
    /// The durable steps of ``replace(with:holding:unlessChangedFrom:random:onStep:)``, in order.
    ///
    /// A kill before `renamed` leaves the file as it was, and after `openedTemporary` a temporary one beside it, which
    /// nothing reads. A kill after `renamed` leaves the new file. A loss of power between `renamed` and
    /// `synchronizedFolder` leaves either.
    package enum ReplacementStep: CaseIterable, Sendable {
        case started
        case openedTemporary
        case wroteTemporary
        case synchronizedTemporary
        case renamed
        case synchronizedFolder
    }

    /// Takes the right to replace the file.
    ///
    /// - Throws: `KeyError` with code `inUse` when another task or process has it; as `readBytes` for a file that is
    ///   missing, not private or no file.
    func lock(maximum: Int) throws -> FileLock {
        // Whoever replaces the file between our opening and our locking leaves us with the lock on a file that is no
        // more. Each turn means that somebody else has made progress; who is that unlucky so often gives up.
        for _ in 0..<100 {
            let descriptor = try openForReading()
            _ = try checkedSize(of: descriptor, maximum: maximum)
            do {
                guard let lock = try FileLock(descriptor) else { throw inUse() }
                if try lock.isLock(ofFileAt: path) { return lock }
            } catch let failure as SystemCallFailure {
                throw unreadable(failure)
            }
        }
        throw inUse()
    }

    /// Replaces the file's content, wholly or not at all.
    ///
    /// - Parameters:
    ///   - content: The new content.
    ///   - lock: The right to replace the file; passes to the new one.
    ///   - expected: What the file must still hold.
    ///   - random: The source of the temporary file's name.
    ///   - onStep: Is told each durable step.
    /// - Throws: `KeyError` with code `inUse` if the file changed all the same, or `io`; the file is then as it was,
    ///   unless only the folder could not be brought to the medium: then it is the new one, and only not proven to
    ///   outlast a loss of power.
    func replace(
        with content: [UInt8],
        holding lock: inout FileLock,
        unlessChangedFrom expected: [UInt8],
        random: RandomSource,
        onStep: (ReplacementStep) -> Void
    ) throws {
        removeTemporaries()
        let temporaryPath = "\(folder).\(name).\(try random.makeIdentifier()).tmp"
        onStep(.started)
        do {
            let descriptor = try openTemporary(temporaryPath)
            onStep(.openedTemporary)
            // The mode of `open` is narrowed by the process's mask.
            try descriptor.setMode(0o600)
            try descriptor.write(content)
            onStep(.wroteTemporary)
            try descriptor.synchronize()
            onStep(.synchronizedTemporary)
            guard let newLock = try FileLock(descriptor) else { throw inUse() }
            // Holders of the lock do not change the file; restoring a backup or an editor's hand might.
            guard try lock.isLock(ofFileAt: path), try readBytes(maximum: expected.count) == expected else {
                throw inUse()
            }
            _ = try SystemCallFailure.check("rename") { unsafe rename(temporaryPath, path) }
            onStep(.renamed)
            lock = newLock
            try FileDescriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY).synchronize()
            onStep(.synchronizedFolder)
        } catch {
            // After the renaming there is none; before, it is nobody's. The first error is the one to report.
            _ = unsafe unlink(temporaryPath)
            guard let failure = error as? SystemCallFailure else { throw error }
            throw KeyError(
                .io,
                message: "The \(role) at \(path) could not be written; make room, or make its folder writable.",
                cause: failure
            )
        }
    }

    /// Removes what replacements that were killed have left. Only for the holder of the lock: nobody else is writing one.
    private func removeTemporaries() {
        do {
            for name in try temporaryNames() ?? [] { _ = unsafe unlink(folder + name) }
        } catch {
            // They are harmless, and what keeps the folder from being listed does not keep the file from being written.
        }
    }

    func inUse() -> KeyError {
        KeyError(
            .inUse,
            message:
                "The \(role) at \(path) is being changed by another task or process; nothing was written. Try again."
        )
    }
}
