import CSQLCipher
import QueryEvaluation
import SyncContract

/// The arguments of one call of an SQL function, and the place for its result, which is null until it is set.
@safe
struct FunctionCall {
    private let context: OpaquePointer?
    private let values: UnsafeMutablePointer<OpaquePointer?>?
    private let count: Int

    init(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?, count: Int32) {
        unsafe self.context = context
        unsafe self.values = values
        self.count = Int(count)
    }

    /// The text of an argument; nil for a value of another type.
    func text(_ index: Int) -> String? {
        guard type(index) == SQLITE_TEXT else { return nil }
        return unsafe String(decoding: rawBytes(index), as: UTF8.self)
    }

    /// Asks the condition whose number is the first argument. The others are the values of its columns, or packed lists
    /// of them when there are more than a function takes.
    func holds() {
        guard let condition = condition() else { return fail() }
        var values: [SQLValue] = []
        values.reserveCapacity(condition.columns.count)
        if condition.isPacked {
            for index in 1..<count { unsafe values += PackedValues.all(of: rawBytes(index)) ?? [] }
        } else {
            for index in 1..<count { values.append(sqlValue(index)) }
        }
        guard let holds = condition.holds(values) else { return fail() }
        set(.int64(holds ? 1 : 0))
    }

    /// All arguments as one packed list.
    func pack() { set(.blob(PackedValues.pack((0..<count).map(sqlValue)))) }

    /// Looks for text in other text, byte for byte.
    func match() {
        guard type(0) == SQLITE_TEXT, type(1) == SQLITE_TEXT else { return }
        let text = unsafe rawBytes(0)
        let sought = unsafe rawBytes(1)
        var found = false
        if sought.count <= text.count {
            switch unsafe sqlite3_value_int(value(2)) {
            case 1: found = unsafe text.prefix(sought.count).elementsEqual(sought)
            case 2: found = unsafe text.suffix(sought.count).elementsEqual(sought)
            default:
                found = (0...text.count - sought.count)
                    .contains {
                        unsafe text[$0..<$0 + sought.count].elementsEqual(sought)
                    }
            }
        }
        set(.int64(found ? 1 : 0))
    }

    /// Compares two numbers; null when one is null or they do not compare.
    func compare() {
        guard let left = number(0), let right = number(1), let sign = left.compare(with: right) else { return }
        set(.int64(Int64(sign)))
    }

    /// A value of a packed list.
    func item() {
        guard let value = unsafe PackedValues.value(at: Int(sqlite3_value_int64(value(1))), of: rawBytes(0)) else {
            return fail()
        }
        set(value)
    }

    /// Text as it is searched and ordered.
    func fold() {
        if let text = text(0) { set(.text(TextFolding.fold(text))) }
    }

    /// The words of a text, as a packed list of packed lists.
    func words() {
        guard let words = text(0).map(TextWords.words), !words.isEmpty else { return }
        let width = 64
        let parts = stride(from: 0, to: words.count, by: width)
            .map { start in
                let part = words[start..<min(start + width, words.count)]
                return SQLValue.blob(PackedValues.pack(part.map(SQLValue.text)))
            }
        set(.blob(PackedValues.pack(parts)))
    }

    /// An item of a list, or nothing behind its end.
    func word() {
        guard type(0) == SQLITE_BLOB else { return }
        if let word = unsafe PackedValues.value(at: Int(sqlite3_value_int64(value(1))), of: rawBytes(0)) { set(word) }
    }

    /// The state of a row by its operation.
    func syncState() {
        set(.text(SyncState(storedState: int64(0), push: int64(1)).rawValue))
    }

    /// Whether a push runs.
    func isPushing() { set(.int64(RunningPushes.isEmpty ? 0 : 1)) }

    /// Extra values merged over others.
    func merge() {
        guard let old = text(0), let patch = text(1) else { return fail() }
        do {
            let merged = try ExtraValues(text: old).merging(patch: patch)
            if let text = merged.text { set(.text(text)) }
        } catch {
            // The text came through the cipher's check, so it is what an older version wrote, or a defect.
            fail()
        }
    }

    /// The condition whose number is the first argument; looked up once for all rows of a statement.
    private func condition() -> RowCondition? {
        if let known = unsafe sqlite3_get_auxdata(context, 0) {
            return unsafe Unmanaged<RowCondition>.fromOpaque(known).takeUnretainedValue()
        }
        guard let condition = unsafe RowCondition.find(sqlite3_value_int64(value(0))) else { return nil }
        unsafe sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(condition).toOpaque()) { pointer in
            guard let pointer = unsafe pointer else { return }
            unsafe Unmanaged<RowCondition>.fromOpaque(pointer).release()
        }
        return condition
    }

    private func sqlValue(_ index: Int) -> SQLValue {
        switch type(index) {
        case SQLITE_INTEGER: unsafe .int64(sqlite3_value_int64(value(index)))
        case SQLITE_FLOAT: unsafe .double(sqlite3_value_double(value(index)))
        case SQLITE_TEXT: unsafe .text(String(decoding: rawBytes(index), as: UTF8.self))
        case SQLITE_BLOB: unsafe .blob(Array(rawBytes(index)))
        default: .null
        }
    }

    private func int64(_ index: Int) -> Int64? {
        type(index) == SQLITE_INTEGER ? unsafe sqlite3_value_int64(value(index)) : nil
    }

    private func number(_ index: Int) -> FieldValue? {
        switch type(index) {
        case SQLITE_INTEGER: unsafe .int64(sqlite3_value_int64(value(index)))
        case SQLITE_FLOAT: unsafe .double(sqlite3_value_double(value(index)))
        case SQLITE_TEXT: text(index).flatMap { DecimalText($0) }.map(FieldValue.decimal)
        default: nil
        }
    }

    private func value(_ index: Int) -> OpaquePointer? { unsafe values?[index] }

    private func type(_ index: Int) -> Int32 { unsafe sqlite3_value_type(value(index)) }

    /// The bytes of a text or blob, valid during the call.
    private func rawBytes(_ index: Int) -> UnsafeRawBufferPointer {
        let start =
            type(index) == SQLITE_TEXT
            ? unsafe UnsafeRawPointer(sqlite3_value_text(value(index))) : unsafe sqlite3_value_blob(value(index))
        return unsafe UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value(index))))
    }

    private func set(_ value: SQLValue) {
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: unsafe sqlite3_result_null(context)
        case .int64(let value): unsafe sqlite3_result_int64(context, value)
        case .double(let value): unsafe sqlite3_result_double(context, value)
        case .text(let value):
            unsafe sqlite3_result_text64(context, value, UInt64(value.utf8.count), copied, UInt8(SQLITE_UTF8))
        case .blob(let value):
            if value.isEmpty {
                unsafe sqlite3_result_zeroblob(context, 0)
            } else {
                unsafe sqlite3_result_blob64(context, value, UInt64(value.count), copied)
            }
        }
    }

    private func fail() { unsafe sqlite3_result_error_code(context, SQLITE_MISMATCH) }
}
