/// A table the emulator serves. A string literal is a table of that name with nothing declared.
///
/// Under protocol 3 a table with columns is as one of a genuine server: every answer has every column, and nothing else
/// is kept. A table without columns keeps what it is given, and every column that any row ever had is in every answer.
public struct EmulatedTableDefinition: Sendable, ExpressibleByStringLiteral {
    /// The table's name as it stands in paths; looked up ignoring case.
    public var name: String
    /// The columns besides the system's, in the order in which answers have them.
    ///
    /// Protocol 2 knows them before any row has them, converts values to them and makes others as rows bring them.
    public var columns: Columns
    /// Whether a deletion marks the row instead of removing it.
    public var softDelete: Bool

    /// Makes a definition.
    public init(_ name: String, columns: Columns = [:], softDelete: Bool = true) {
        self.name = name
        self.columns = columns
        self.softDelete = softDelete
    }

    /// Makes a table with nothing declared and soft delete on.
    public init(stringLiteral name: String) {
        self.init(name)
    }
}

extension EmulatedTableDefinition {
    /// Columns by name, in an order; names count in any case.
    public struct Columns: Sendable, ExpressibleByDictionaryLiteral {
        /// The names in their order.
        public private(set) var names: [String] = []
        /// The types by name.
        public private(set) var types: [String: ColumnType] = [:]
        private var namesByLowercase: [String: String] = [:]

        /// Makes columns; of names that differ by case only, the last one counts.
        public init(dictionaryLiteral elements: (String, ColumnType)...) {
            for (name, type) in elements { self[name] = type }
        }

        /// Whether there are none.
        public var isEmpty: Bool { names.isEmpty }

        /// The type of a column; nil when there is none of that name, in any case. A new one becomes the last.
        public subscript(name: String) -> ColumnType? {
            get { self.name(ignoringCase: name).flatMap { types[$0] } }
            set {
                if let old = namesByLowercase.removeValue(forKey: name.lowercased()) {
                    names.removeAll { $0 == old }
                    types[old] = nil
                }
                guard let newValue else { return }
                names.append(name)
                types[name] = newValue
                namesByLowercase[name.lowercased()] = name
            }
        }

        /// The names of those that hold instants.
        var instants: Set<String> {
            Set(names.filter { types[$0]?.kind == .date })
        }

        /// A column's own spelling.
        func name(ignoringCase name: String) -> String? {
            types[name] == nil ? namesByLowercase[name.lowercased()] : name
        }
    }
}
