internal import Foundation
public import SyncContract

extension TableDefinition {
    /// Declares a table for an item type: its columns are the type's coding keys, with the types that hold their values.
    ///
    /// `id`, the server's columns (`version`, `createdAt`, `updatedAt`, `deleted`) and properties of type ``SyncState`` are no
    /// columns of the app's. Texts, `UUID`, `URL`, ``Day`` and ``TimeOfDay`` are text; enums with raw values are what these
    /// are; nested values and lists are JSON. A table of items whose ids are UUIDs ignores the case of ids: see `RowID`.
    ///
    /// The type is decoded from values that are made up. That fails for a property of a type that takes none of them, such
    /// as an enum that is neither optional nor `CaseIterable` and has texts as raw values.
    ///
    /// - Parameters:
    ///   - type: The type.
    ///   - name: The name, as in the server's address; nil for that of the type.
    ///   - systemProperties: The server's columns to keep; a table that is local only keeps none.
    ///   - options: What the table is beside its columns.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidSchema`` for a property that no value can be made up for,
    ///   with its name and the remedy, for a key path in an option that is no stored property, for one in `owns` that names no
    ///   file, for ids that are UUIDs and whose case is to count, and for items that do not get the ids of their rows; with
    ///   code ``StoreError/Code/invalidItem`` for an example that cannot be encoded.
    public init<Item: Codable & Identifiable & Sendable>(
        _ type: Item.Type,
        named name: String? = nil,
        systemProperties: SystemProperties = [.createdAt, .updatedAt, .version],
        _ options: TableOption<Item>...
    ) throws where Item.ID: RowID {
        var builder = TableBuilder<Item>(name: name ?? "\(type)")
        self = try builder.table(options.map(\.kind), systemProperties)
    }

    /// Checks the declared columns against an item type.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidSchema`` for a property whose values do not fit the declared
    ///   column of its name. A type that cannot be described is not checked, nor is a property without a column.
    public func check<Item: Decodable & Sendable>(against type: Item.Type) throws(StoreError) {
        for property in ItemDescription.of(type).properties {
            guard let declared = self.type(of: property.name), !declared.holds(property.type) else { continue }
            throw StoreError(
                .invalidSchema,
                "Column '\(property.name)' of '\(name)' is declared as \(declared.rawValue), and the property of \(type) is"
                    + " stored as \(property.type.rawValue); declare the column as that, or change the property's type."
            )
        }
    }
}

extension TableDefinition {
    /// Checks the declaration against the ids of an item type.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidSchema`` when the ids are UUIDs, which are the same in upper
    ///   and in lower case, and the table tells those apart.
    package func check<ID: RowID>(idsOf type: ID.Type) throws(StoreError) {
        guard type == UUID.self, idComparison == .exact else { return }
        throw StoreError(
            .invalidSchema,
            "The ids of table '\(name)' are UUIDs, and the same UUID in another case would be another row; declare it with"
                + " idComparison: .asciiCaseInsensitive."
        )
    }
}

extension TableDefinition {
    /// Checks that items of a type get the ids of their rows.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidSchema`` when they get no id, or another one each time.
    package func check<Item: Decodable & Identifiable & Sendable>(
        identityOf type: Item.Type
    ) throws(StoreError) where Item.ID: RowID {
        try check(idsOf: Item.ID.self)
        guard !ItemDescription.of(type).keepsIDs else { return }
        throw StoreError(
            .invalidSchema,
            "Items of \(type) in table '\(name)' would not get the ids of their rows; decode 'id' under the key 'id', as a"
                + " 'var' among the CodingKeys, or compute it from a property that is stored."
        )
    }
}

extension ColumnType {
    /// Whether values of a property fit. A nested value fits wherever its JSON does, which only the value shows.
    fileprivate func holds(_ other: ColumnType) -> Bool { self == other || other == .json }
}

/// Puts a table together from an item type and options.
private struct TableBuilder<Item: Codable & Identifiable & Sendable> where Item.ID: RowID {
    let name: String
    private var local: Set<String> = []
    private var searchable: Set<String> = []
    private var indexes: [[String]] = []
    private var references: [String: String] = [:]
    private var rules: [String: DeletionRule] = [:]
    private var wireNames: [String: String] = [:]
    private var owning: Set<String> = []
    private var wireName: String?
    private var isLocalOnly = false
    private var assignsIDs = false
    private var idComparison: IDComparison = Item.ID.self == UUID.self ? .asciiCaseInsensitive : .exact
    private var example: Item?

    init(name: String) { self.name = name }

    mutating func table(
        _ options: [TableOption<Item>.Kind],
        _ systemProperties: SystemProperties
    ) throws -> TableDefinition {
        var examples: [Item] = []
        for case .example(let item) in options { examples.append(item) }
        // Without the example the type may not take what is made up.
        let description =
            try examples.last.map { try ItemDescription.of(Item.self, example: $0) } ?? ItemDescription.of(Item.self)
        if let problem = description.problem { throw StoreError(.invalidSchema, problem) }
        for option in options { try take(option, description) }
        for property in description.properties where owning.contains(property.name) && !property.namesFiles {
            throw StoreError(
                .invalidSchema,
                "The property '\(property.name)' of \(Item.self) owns no file: make it an AttachmentID, or leave out '.owns'."
            )
        }
        let others = SystemProperties.names.union(["id"])
        let columns = description.properties.filter { !others.contains($0.name) }
            .map {
                ColumnDefinition(
                    $0.name,
                    $0.type,
                    isSearchable: searchable.contains($0.name),
                    isLocal: local.contains($0.name),
                    references: references[$0.name],
                    onDelete: rules[$0.name] ?? .noAction,
                    wireName: wireNames[$0.name],
                    textForm: $0.textForm,
                    attachment: $0.namesFiles ? owning.contains($0.name) ? .owns : .refers : nil
                )
            }
        // Which rows name a file is asked for each one that waits to be sent.
        for column in columns where column.attachment != nil && !indexes.contains(where: { $0.first == column.name }) {
            indexes.append([column.name])
        }
        var table = TableDefinition(
            name,
            columns: columns,
            idComparison: idComparison,
            systemProperties: systemProperties,
            indexes: indexes,
            assignsIDs: assignsIDs,
            wireName: wireName,
            isLocalOnly: isLocalOnly
        )
        try table.check(identityOf: Item.self)
        table.standIns = try standIns(table, description)
        return table
    }

    /// What stands in where a row has no value and the property must have one: what the example has, and in columns that no
    /// server fills false, 0 or nothing without one.
    private func standIns(
        _ table: TableDefinition,
        _ description: ItemDescription<Item>
    ) throws -> [String: FieldValue] {
        guard let item = example ?? (local.isEmpty ? nil : description.base) else { return [:] }
        let values = try RecordEncoder(table).encode(item).fields
        let optional = Set(description.properties.filter(\.isOptional).map(\.name))
        return values.filter { name, value in
            !value.isNull && !optional.contains(name) && table.type(of: name) != nil
                && !SystemProperties.names.contains(name) && (example != nil || local.contains(name))
        }
    }

    private mutating func take(_ option: TableOption<Item>.Kind, _ description: ItemDescription<Item>) throws {
        func names(_ paths: [PartialKeyPath<Item>]) throws -> [String] {
            try paths.map { path in
                guard let name = description.columnName(of: path) else {
                    throw StoreError(
                        .invalidSchema,
                        "'\(path)' is no stored property of \(Item.self) by which table '\(name)' could have a column."
                    )
                }
                return name
            }
        }
        switch option {
        case .local(let paths): local.formUnion(try names(paths))
        case .searchable(let paths): searchable.formUnion(try names(paths))
        case .indexed(let paths): indexes.append(try names(paths))
        case .references(let path, let table): for name in try names([path]) { references[name] = table }
        case .example(let item): example = item
        case .assignsIDs: assignsIDs = true
        case .idComparison(let comparison): idComparison = comparison
        case .onDelete(let path, let table, let rule):
            for name in try names([path]) { (references[name], rules[name]) = (table, rule) }
        case .wireName(let name): wireName = name
        case .columnWireName(let wireName, let path): for name in try names([path]) { wireNames[name] = wireName }
        case .localOnly: isLocalOnly = true
        case .owns(let path): owning.formUnion(try names([path]))
        }
    }
}
