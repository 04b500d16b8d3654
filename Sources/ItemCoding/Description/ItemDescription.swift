internal import Synchronization
package import SyncContract

/// What an item type says about its table, found out by decoding it from values that are made up.
///
/// The type is decoded once with the first of its values for every property, and once for each property and each of at most
/// two others for it alone. What it asks for are the columns. A property of the item that has such a value then, and follows no
/// other column, is the one behind the column.
package final class ItemDescription<Item: Decodable & Sendable>: Sendable {
    /// A property that is stored.
    package struct Property: Sendable {
        /// Its coding key.
        package let name: String
        /// The type of its column.
        package let type: ColumnType
        /// Whether it may be nil, or is of a type that holds a null itself.
        package let isOptional: Bool
        /// Its Swift type, without optional.
        let swiftType: ObjectIdentifier
        /// Whether its values name files.
        let namesFiles: Bool

        /// What its text is to a server that has a type for it.
        var textForm: TextForm {
            switch swiftType {
            case ObjectIdentifier(Day.self): .day
            case ObjectIdentifier(TimeOfDay.self): .timeOfDay
            default: .text
            }
        }
    }

    /// The properties in the order in which the type asks for them, `id` and the server's columns included.
    package let properties: [Property]

    /// Why the type cannot be described: the property and the remedy. Nothing is known of the type then.
    package let problem: String?

    /// An item of made-up values, and of those of the example.
    let base: Item?
    /// The same once more: what differs is made anew each time.
    private let twin: Item?
    private let others: [Other]
    /// What the example has, in the form in which it is stored.
    private let exampleForms: [String: FieldValue]
    private let names = Mutex<[PathKey: String]>([:])

    /// An item in which one property has another value.
    private struct Other: Sendable {
        let name: String
        let item: Item
        let value: FieldValue
    }

    /// The description of a type, which is made once.
    package static func of(_ type: Item.Type) -> ItemDescription {
        if let known = descriptions.withLock({ $0[ObjectIdentifier(type)] }) as? ItemDescription { return known }
        return make(standIns: [:])
    }

    /// The description of a type with the values of an item where none can be made up. It stands from then on.
    ///
    /// - Throws: ``StoreError/Code/invalidItem`` for one that cannot be encoded, or what the item throws.
    package static func of(_ type: Item.Type, example: Item) throws -> ItemDescription where Item: Encodable {
        do {
            return try make(standIns: PropertyValues.of(example))
        } catch let error as EncodingError {
            throw StoreError(
                .invalidItem,
                "Property '\(error.property ?? "?")' of the example of \(Item.self) cannot be encoded; give it a type that"
                    + " can.",
                cause: error.withoutValue
            )
        }
    }

    private static func make(standIns: [String: Any]) -> ItemDescription {
        let made = ItemDescription(standIns: standIns)
        descriptions.withLock { $0[ObjectIdentifier(Item.self)] = made }
        return made
    }

    private init(standIns: [String: Any]) {
        let probe = ItemProbe(standIns: standIns)
        exampleForms = standIns.compactMapValues { StoredForm.of($0) }
        do {
            let base = try Item(from: ProbeDecoder(probe: probe))
            let twin = try Item(from: ProbeDecoder(probe: ItemProbe(standIns: standIns)))
            (self.base, self.twin, properties, problem) = (base, twin, probe.properties.map(Property.init), nil)
            others = probe.properties.flatMap { property in
                // A type may take the first for what it has without a value.
                (0..<2)
                    .compactMap { number in
                        let probe = ItemProbe(standIns: standIns, differing: property.name, passingOver: number)
                        // Not every type takes every value: such a property is told apart by its type.
                        guard
                            case .success(let item) = Result(catching: { try Item(from: ProbeDecoder(probe: probe)) }),
                            let value = probe.differentValue
                        else { return nil }
                        return Other(name: property.name, item: item, value: value)
                    }
            }
        } catch {
            (base, twin, properties, others) = (nil, nil, [], [])
            problem = probe.problem(of: Item.self)
        }
    }

    /// Whether an item can be given an id, which it decodes under the key `id`.
    package var takesIDs: Bool { problem != nil || properties.contains { $0.name == "id" } }

    /// The column behind a property; nil for one that is not stored, such as a computed one.
    package func columnName(of path: PartialKeyPath<Item>) -> String? {
        // The row's operation says it, whatever the property's name is.
        if StoredForm.unwrapped(Swift.type(of: path).valueType) == SyncState.self { return SyncStateTerm.name }
        let key = PathKey(path)
        if let known = names.withLock({ $0[key] }) { return known }
        guard let name = find(path) else { return nil }
        names.withLock { $0[key] = name }
        return name
    }

    private func find(_ path: PartialKeyPath<Item>) -> String? {
        guard let base, let plain = StoredForm.of(base[keyPath: path]) else { return nil }
        var followed: Set<String> = []
        var differing: Set<String> = []
        for other in others {
            let value = StoredForm.of(other.item[keyPath: path])
            if value != plain { followed.insert(other.name) }
            if value != other.value { differing.insert(other.name) }
        }
        // What follows another column, or several, or has other values than its column, is computed.
        if let name = followed.first { return followed.count == 1 && !differing.contains(name) ? name : nil }
        // For the rest there was no second value: their types tell them apart.
        let known = Set(others.map(\.name))
        let type = ObjectIdentifier(StoredForm.unwrapped(Swift.type(of: path).valueType))
        let rest = properties.filter { !known.contains($0.name) && $0.swiftType == type }
        if rest.count == 1 { return rest[0].name }
        // Of several of one type, the one that has in the example what this one has.
        let same = rest.filter { exampleForms[$0.name] == plain }
        return same.count == 1 ? same[0].name : nil
    }
}

extension ItemDescription where Item: Identifiable, Item.ID: RowID {
    /// Whether items get the ids of their rows: from the key `id`, or from what else they are decoded from.
    var keepsIDs: Bool {
        guard let base, let twin else { return true }
        guard base.id == twin.id else { return false }
        if takesIDs || others.contains(where: { $0.item.id != base.id }) { return true }
        // One id for all of them, as of a table with a single row.
        return base.id.recordID != .string("")
    }
}

/// A key path as a key. It is immutable, and only hashed and compared here.
private struct PathKey: Hashable, @unchecked Sendable {
    let path: AnyKeyPath

    init(_ path: AnyKeyPath) { self.path = path }
}

private let descriptions = Mutex<[ObjectIdentifier: any Sendable]>([:])

extension ItemDescription.Property {
    fileprivate init(_ property: ItemProbe.Property) {
        self.init(
            name: property.name,
            type: property.type,
            isOptional: property.isOptional,
            swiftType: property.swiftType,
            namesFiles: property.namesFiles
        )
    }
}
