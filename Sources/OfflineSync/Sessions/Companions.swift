internal import Synchronization

/// What other modules keep beside a context: one object of a kind.
final class Companions: Sendable {
    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    func object<Kind: AnyObject & Sendable>(_ make: () -> Kind) -> Kind {
        objects.withLock { objects in
            if let object = objects[ObjectIdentifier(Kind.self)] as? Kind { return object }
            let object = make()
            objects[ObjectIdentifier(Kind.self)] = object
            return object
        }
    }
}

extension SyncContext {
    /// The object of a kind that belongs to this context; made when it is asked for first.
    package func companion<Kind: AnyObject & Sendable>(_ make: () -> Kind) -> Kind { companions.object(make) }
}
