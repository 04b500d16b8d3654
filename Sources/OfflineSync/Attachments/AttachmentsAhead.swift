public import ItemCoding
public import SyncContract

/// Which files are fetched before somebody asks for them: `.none`, `.all`, or those of some columns, of all rows or of those
/// that satisfy a condition.
///
/// ```swift
/// AttachmentOptions(ahead: [.column(\Brand.logo), .column(\Coupon.photo) { $0.isFavourite == true }])
/// ```
///
/// What counts is which rows name a file: those that a pull writes, and those that are here when the store is opened. Such a
/// file is fetched when nothing else is to travel, as long as it fits under ``AttachmentOptions/spaceLimit`` beside all that
/// is here: nothing makes room for it, and as long as nobody has read it, it makes room for others first. It is fetched once;
/// after it has made room it comes when it is asked for.
public struct AttachmentsAhead: Sendable, ExpressibleByArrayLiteral {
    /// The files of one column.
    package struct Rule: Sendable, Hashable {
        package let table: String
        package let column: String
        /// What rows must satisfy; nil for all.
        package let condition: QueryPredicate?

        /// The rows that it is about.
        package var rows: Query {
            let named = Query(table).filtered(by: Column(column) != .null)
            return condition.map(named.filtered) ?? named
        }
    }

    /// What each rule wants; nil for all files.
    private let rules: [Rule]?

    private init(_ rules: [Rule]?) { self.rules = rules }

    /// What any of some others wants.
    public init(arrayLiteral elements: AttachmentsAhead...) {
        let rules = elements.map(\.rules)
        self.init(rules.contains(nil) ? nil : rules.flatMap { $0 ?? [] })
    }

    /// None: every file is fetched when it is asked for.
    public static let none = AttachmentsAhead([])

    /// The files of all rows of all tables that are kept in step with the server.
    public static let all = AttachmentsAhead(nil)

    /// The files that one property names.
    ///
    /// - Parameters:
    ///   - property: A property of type `AttachmentID`, or an optional one.
    ///   - table: The name of the table; nil for that of its type.
    ///   - condition: Which rows are meant, as in `where` of a table: `{ $0.isFavourite == true }`. All unless given.
    /// - Returns: The rule. That there is such a column of files is checked when the store is opened.
    public static func column<Item: TableItem, Value: ColumnValue>(
        _ property: KeyPath<Item, Value>,
        of table: String? = nil,
        where condition: ((Columns<Item>) -> QueryPredicate)? = nil
    ) -> AttachmentsAhead {
        let columns = Columns<Item>()
        return column(columns[dynamicMember: property].name, of: table ?? "\(Item.self)", where: condition?(columns))
    }

    /// The same by names.
    public static func column(_ column: String, of table: String, where condition: QueryPredicate?) -> AttachmentsAhead
    {
        AttachmentsAhead([Rule(table: table, column: column, condition: condition)])
    }

    /// What it comes to for the tables of a store.
    ///
    /// - Throws: `StoreError` with code `invalidQuery` for a rule about what is no column of files that come from a server, and
    ///   for a condition that the table cannot answer.
    package func rules(for schema: StoreSchema) throws(StoreError) -> [Rule] {
        let all = schema.syncedTables.flatMap { table in
            table.columns.filter { $0.attachment != nil && !$0.isLocal }
                .map { Rule(table: table.name, column: $0.name, condition: nil) }
        }
        guard let rules else { return all }
        for rule in rules {
            guard let table = schema.table(rule.table),
                all.contains(where: { $0.table == rule.table && $0.column == rule.column })
            else {
                throw StoreError(
                    .invalidQuery,
                    "Files of '\(rule.table).\(rule.column)' are to be fetched ahead, and that is no column of type"
                        + " AttachmentID in a table that is kept in step with the server; correct AttachmentOptions.ahead."
                )
            }
            try rule.rows.validate(for: table)
            try rule.rows.checkKinds(for: table)
        }
        return rules
    }
}
