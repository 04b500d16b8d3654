internal import SyncContract

/// By what several contexts know that they are over the same store: the object that it is.
///
/// A store that is a value has no identity. Its copies hold the same objects and the same values, so those say which one it
/// is. What cannot be told apart is passed over, such as functions.
struct StoreIdentity: Hashable, Sendable {
    private let object: ObjectIdentifier?
    /// No content, which may be a secret: two stores with the same number are as unlikely as two keys.
    private let digest: Int

    init(_ store: any SyncContextDataSource) {
        guard !(type(of: store) is AnyClass) else {
            (object, digest) = (ObjectIdentifier(store as AnyObject), 0)
            return
        }
        var hasher = Hasher()
        Self.add(store, to: &hasher)
        (object, digest) = (nil, hasher.finalize())
    }

    private static func add(_ value: Any, to hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: value)))
        if type(of: value) is AnyClass {
            hasher.combine(ObjectIdentifier(value as AnyObject))
        } else if let value = value as? AnyHashable {
            hasher.combine(value)
        } else {
            for child in Mirror(reflecting: value).children {
                hasher.combine(child.label)
                add(child.value, to: &hasher)
            }
        }
    }
}
