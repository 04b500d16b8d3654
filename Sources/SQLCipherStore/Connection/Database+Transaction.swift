/// How a transaction begins.
enum TransactionKind {
    /// Sees the state of one instant, from its first read on.
    case reading
    /// Takes the write lock at once.
    case writing

    fileprivate var begin: String {
        switch self {
        case .reading: "BEGIN"
        case .writing: "BEGIN IMMEDIATE"
        }
    }
}

extension Database {
    /// Runs a closure as one transaction: committed when it returns, rolled back when it throws.
    ///
    /// The first error wins: what goes wrong while rolling back after it is a consequence.
    func transaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        try run(kind.begin)
        do {
            let value = try body()
            // The commit of a write makes sure of it by itself: it is refused after a page that failed the check.
            if kind == .reading { try verifyPagesRead() }
            try run("COMMIT")
            return value
        } catch {
            rollBack()
            throw error
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
