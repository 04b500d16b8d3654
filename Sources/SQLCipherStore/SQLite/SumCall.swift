import CSQLCipher
import SyncContract

/// One call of ``SQLFunctions/sum``: the sum under way lies in memory that SQLite keeps for each group.
@safe
struct SumCall {
    private let sum: ExactSum

    /// Finds the sum of the group, or begins it. Nil, and reported to SQLite, when there is no memory.
    init?(_ context: OpaquePointer?) {
        let size = unsafe Int32(MemoryLayout<UnsafeMutableRawPointer?>.size)
        guard let memory = unsafe sqlite3_aggregate_context(context, size) else {
            unsafe sqlite3_result_error_nomem(context)
            return nil
        }
        // SQLite fills new memory with zeros.
        let place = unsafe memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
        if let known = unsafe place.pointee {
            sum = unsafe Unmanaged<ExactSum>.fromOpaque(known).takeUnretainedValue()
        } else {
            let sum = ExactSum()
            unsafe place.pointee = Unmanaged.passRetained(sum).toOpaque()
            self.sum = sum
        }
    }

    /// Adds the argument. A null is left out.
    @inline(__always)
    func add(_ values: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let value = unsafe values?[0] else { return }
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: unsafe sum.add(sqlite3_value_int64(value))
        case SQLITE_FLOAT: unsafe sum.add(sqlite3_value_double(value))
        case SQLITE_TEXT:
            guard let text = unsafe sqlite3_value_text(value) else { return }
            unsafe sum.add(UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
        case SQLITE_NULL: break
        default: sum.fails = true
        }
    }

    /// Adds the argument, whatever its type, as a decimal. Text of the app's own may be anything.
    func addAsDecimal(_ values: UnsafeMutablePointer<OpaquePointer?>?) {
        guard let value = unsafe values?[0] else { return }
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: unsafe sum.add(DecimalText(sqlite3_value_int64(value)))
        case SQLITE_FLOAT: unsafe sum.add(DecimalText(shortestOf: sqlite3_value_double(value)))
        case SQLITE_TEXT:
            guard let text = unsafe sqlite3_value_text(value) else { return }
            let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
            unsafe sum.add(DecimalText(String(decoding: bytes, as: UTF8.self)))
        case SQLITE_NULL: break
        default: sum.fails = true
        }
    }

    /// Gives the sum out, and its memory back. SQLite calls this once for each group, also after an error.
    static func finish(_ context: OpaquePointer?) {
        guard let memory = unsafe sqlite3_aggregate_context(context, 0),
            let known = unsafe memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self).pointee
        else { return unsafe sqlite3_result_null(context) }
        unsafe memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self).pointee = nil
        switch unsafe Unmanaged<ExactSum>.fromOpaque(known).takeRetainedValue().result {
        case .null: unsafe sqlite3_result_null(context)
        case .int64(let value): unsafe sqlite3_result_int64(context, value)
        case .double(let value): unsafe sqlite3_result_double(context, value)
        case .decimal(let value):
            let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            unsafe sqlite3_result_text64(context, value.text, UInt64(value.text.utf8.count), copied, UInt8(SQLITE_UTF8))
        default: unsafe sqlite3_result_error_code(context, SQLITE_RANGE)
        }
    }
}

/// A sum of numbers of one type.
final class ExactSum {
    private var whole: WholeSum?
    private var double: DoubleSum?
    private var decimal: DecimalSum?
    /// Whether something was no number, too large, or too fine.
    var fails = false

    func add(_ value: Int64) {
        if whole == nil { whole = WholeSum() }
        whole?.add(value)
    }

    func add(_ value: Double) {
        if double == nil { double = DoubleSum() }
        double?.add(value)
    }

    func add(_ text: UnsafeBufferPointer<UInt8>) {
        if decimal == nil { decimal = DecimalSum() }
        if unsafe decimal?.add(text) != true { fails = true }
    }

    /// Adds a decimal; nil for what is none.
    func add(_ value: DecimalText?) {
        if decimal == nil { decimal = DecimalSum() }
        guard let value, decimal?.add(value.text.utf8) == true else {
            fails = true
            return
        }
    }

    /// The sum, null without a value; `.bool` when there is none, as for numbers of two types.
    var result: FieldValue {
        guard !fails else { return .bool(false) }
        switch (whole, double, decimal) {
        case (nil, nil, nil): return .null
        case (let whole?, nil, nil): return whole.value.map(FieldValue.int64) ?? .bool(false)
        case (nil, let double?, nil): return double.value.isNaN ? .bool(false) : .double(double.value)
        case (nil, nil, let decimal?): return .decimal(decimal.value)
        default: return .bool(false)
        }
    }
}
