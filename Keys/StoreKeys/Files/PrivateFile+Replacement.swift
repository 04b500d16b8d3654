import DurableFiles

extension PrivateFile {
    /// Takes the right to replace the file: a lock on the file itself.
    ///
    /// Who replaces the file locks the new one before it gets its name: there is no instant at which the file at the
    /// path is free.
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
                if try lock.descriptor.isFile(at: path) { return lock }
            } catch let failure as SystemCallFailure {
                throw unreadable(failure)
            }
        }
        throw inUse()
    }

    /// Replaces the file's content, wholly or not at all.
    ///
    /// The durable steps, in order: a temporary file beside it is created, written and synchronized; it takes the
    /// file's place; the folder is synchronized. A kill before the renaming leaves the file as it was, and perhaps a
    /// temporary one, which nothing reads; one after it leaves the new file. A loss of power before the folder is
    /// synchronized leaves either.
    ///
    /// - Parameters:
    ///   - content: The new content.
    ///   - lock: The right to replace the file; passes to the new one.
    ///   - expected: What the file must still hold.
    ///   - random: The source of the temporary file's name.
    /// - Throws: `KeyError` with code `inUse` if the file changed all the same, or `io`; the file is then as it was,
    ///   unless only the folder could not be brought to the medium: then it is the new one, and only not proven to
    ///   outlast a loss of power.
    func replace(
        with content: [UInt8],
        holding lock: inout FileLock,
        unlessChangedFrom expected: [UInt8],
        random: RandomSource
    ) throws {
        removeTemporaries()
        let temporaryPath = try makeTemporaryPath(random)
        do {
            let file = try fileSystem.create(temporaryPath)
            try file.write(content)
            try file.synchronize()
            guard let newLock = try FileLock(file) else { throw inUse() }
            // Holders of the lock do not change the file; restoring a backup or an editor's hand might.
            guard try lock.descriptor.isFile(at: path), try holds(expected) else {
                throw inUse()
            }
            do throws(SystemCallFailure) {
                try fileSystem.replace(path, with: temporaryPath)
            } catch {
                guard error.call != "rename" else { throw error }
                throw unprovenReplacement(error)
            }
            lock = newLock
        } catch {
            discard(temporaryPath)
            guard let failure = error as? SystemCallFailure else { throw error }
            throw KeyError(
                .inputOutput,
                "The \(role) at \(path) could not be written; make room, or make its folder writable.",
                cause: failure
            )
        }
    }

    /// Whether the file has this content.
    private func holds(_ expected: [UInt8]) throws -> Bool {
        do {
            return try readBytes(maximum: expected.count) == expected
        } catch let error as KeyError where error.code == .damagedFile {
            // It has become longer.
            return false
        }
    }

    /// Waits until the names in the file's folder are on the medium.
    func synchronizeFolder() throws(KeyError) {
        do throws(SystemCallFailure) {
            try fileSystem.synchronize(folder)
        } catch {
            throw folderNotSynchronized(error)
        }
    }

    func folderNotSynchronized(_ cause: any Error) -> KeyError {
        KeyError(
            .inputOutput,
            "The folder of the \(role) at \(path) could not be brought to the medium; look at the medium.",
            cause: cause
        )
    }

    private func unprovenReplacement(_ failure: SystemCallFailure) -> KeyError {
        KeyError(
            .inputOutput,
            "The \(role) at \(path) is the new one. Only its folder could not be brought to the medium, so that a loss of power may "
                + "bring the old one back; look at the medium, and keep the old secrets.",
            cause: UnprovenReplacement(cause: failure)
        )
    }

    /// Removes what replacements that were killed have left. Only for the holder of the lock: nobody else is writing
    /// one.
    private func removeTemporaries() {
        do {
            for name in try temporaryNames() ?? [] { discard(folder + name) }
        } catch {
            // They are harmless, and what keeps the folder from being listed does not keep the file from being written.
        }
    }

    func inUse() -> KeyError {
        KeyError(
            .inUse,
            "The \(role) at \(path) is being changed by another task or process; nothing was written. Try again."
        )
    }
}

/// The cause of the error when a file was replaced, and only its name could not be brought to the medium.
package struct UnprovenReplacement: Error, CustomStringConvertible {
    let cause: SystemCallFailure

    package var description: String { cause.description }
}
