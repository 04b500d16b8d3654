import CSQLCipher

/// How a transaction begins.
package enum TransactionKind {
    /// Sees the state of one instant, from its first read on.
    case reading
    /// The same, but fails when it turns out to take long.
    case readingBriefly
    /// Takes the write lock at once.
    case writing
}

/// The statements around transactions.
struct TransactionStatements {
    fileprivate let begin = CachedStatement("BEGIN")
    fileprivate let beginWriting = CachedStatement("BEGIN IMMEDIATE")
    fileprivate let readAnyPage = CachedStatement("SELECT 1 FROM sqlite_master LIMIT 1")
    fileprivate let commit = CachedStatement("COMMIT")
}

extension Database {
    /// Runs a closure as one transaction: committed when it returns, rolled back when it throws.
    ///
    /// A task that is cancelled ends a read with `CancellationError`, and a write only if the closure looks for it. The
    /// first error wins: what goes wrong while rolling back after it is a consequence.
    ///
    /// - Throws: What the closure throws, `SQLiteFailure`, and as ``withInterruption(isBrief:_:)``.
    package func transaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        try (kind == .writing ? statements.beginWriting : statements.begin).run(in: self)
        do {
            let value: Value
            if kind == .writing {
                value = try body()
            } else {
                value = try withInterruption(isBrief: kind == .readingBriefly, body)
                // The commit of a write makes sure of it by itself: it is refused after a page that failed the check.
                try verifyPagesRead()
            }
            try statements.commit.run(in: self)
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Throws when a page that this transaction read failed the cipher's check.
    ///
    /// The library hands such a page out as zeros and reports success; only the *next* page it is asked for fails. A
    /// value whose last page was damaged would otherwise come back with zeros at its end.
    package func verifyPagesRead() throws {
        do {
            try statements.readAnyPage.run(in: self)
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_ERROR {
            throw SQLiteFailure(code: SQLITE_CORRUPT)
        }
    }

    /// Ends a transaction without keeping anything. SQLite may have done so itself: after a full disk, for instance.
    private func rollBack() {
        guard isInTransaction else { return }
        do {
            try run("ROLLBACK")
        } catch {
            // Nothing is kept either way: an open transaction ends with its connection. The caller throws the reason.
        }
    }
}
