import CSQLCipher
import QueryEvaluation
import SyncContract

/// The functions and collations that give SQL the meaning of `QueryEvaluator` where SQLite's own differ.
///
/// The database file does not depend on them: they are used in queries only, except for NOCASE, which orders ids as
/// SQLite's own does but for ids that hold a U+0000, where SQLite's stops comparing, and for searchable columns: other
/// programs can read tables with them and cannot write them.
enum SQLFunctions {
    /// Whether a condition that is kept in ``RowCondition`` holds for the values of its columns.
    static let holds = "sealed_holds"
    /// Any number of values as one packed list.
    static let pack = "sealed_pack"
    /// Whether text contains (0), starts with (1) or ends with (2) other text.
    static let match = "sealed_match"
    /// Compares numbers of any two types; decimals are texts.
    static let compare = "sealed_compare"
    /// The value at an index of a packed list.
    static let item = "sealed_item"
    /// The extra values of a row with others merged over them.
    static let merge = "sealed_merge"
    /// Folded text. The stored indexes hold what it gives, so its name changes with its version.
    static let fold = "sealed_fold\(TextFolding.version)"
    /// The words of a text as a packed list of packed lists; null when it has none.
    static let words = "sealed_words\(TextFolding.version)"
    /// What is at an index of a packed list; null behind its end.
    static let word = "sealed_word"
    /// The text of the state that an operation's columns `state` and `push` stand for.
    static let syncState = "sealed_sync_state"
    /// The exact sum of whole numbers, doubles, or decimals as texts; null without a value.
    static let sum = "sealed_sum"

    /// `sealed_is_pushing()`: whether a push runs in this process, as of the beginning of the statement.
    static let isPushing = "sealed_is_pushing"
    /// The exact sum of numbers of any type as the text of a decimal; null without a value. For SQL of the app's own.
    static let decimalSum = "decimal_sum"
    /// The same as ``decimalCollation``, for SQL of the app's own.
    private static let publicDecimalCollation = "decimal"
    /// Compares decimal texts as numbers.
    static let decimalCollation = "sealed_decimal"
    /// Compares decimal texts as numbers, and texts of one number by their bytes.
    static let decimalTextCollation = "sealed_decimal_text"

    /// Makes the functions and collations known to a connection.
    static func register(on database: Database) throws(SQLiteFailure) {
        unsafe try register(holds, anyCount, holdsFunction, on: database)
        unsafe try register(pack, anyCount, packFunction, on: database)
        unsafe try register(match, 3, matchFunction, on: database)
        unsafe try register(compare, 2, compareFunction, on: database)
        unsafe try register(item, 2, itemFunction, on: database)
        unsafe try register(merge, 2, mergeFunction, on: database)
        unsafe try register(fold, 1, foldFunction, on: database)
        unsafe try register(words, 1, wordsFunction, on: database)
        unsafe try register(word, 2, wordFunction, on: database)
        unsafe try register(syncState, 2, syncStateFunction, on: database)
        unsafe try registerAggregate(sum, addToSum, finishSum, on: database)
        unsafe try register(isPushing, 0, isPushingFunction, on: database)
        unsafe try registerAggregate(decimalSum, addToDecimalSum, finishSum, on: database)
        unsafe try registerCollation(publicDecimalCollation, compareDecimals, on: database)
        unsafe try registerCollation(decimalCollation, compareDecimals, on: database)
        unsafe try registerCollation(decimalTextCollation, compareDecimalTexts, on: database)
        unsafe try registerCollation("NOCASE", compareIgnoringCase, on: database)
    }

    private static let anyCount: Int32 = -1

    private typealias Function =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    private static func register(
        _ name: String,
        _ argumentCount: Int32,
        _ function: Function,
        on database: Database
    ) throws(SQLiteFailure) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        let code = unsafe sqlite3_create_function_v2(
            database.pointer,
            name,
            argumentCount,
            flags,
            nil,
            function,
            nil,
            nil,
            nil
        )
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    private static func registerAggregate(
        _ name: String,
        _ step: Function,
        _ finish: @convention(c) (OpaquePointer?) -> Void,
        on database: Database
    ) throws(SQLiteFailure) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        let code = unsafe sqlite3_create_function_v2(database.pointer, name, 1, flags, nil, nil, step, finish, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    private static func registerCollation(
        _ name: String,
        _ compare:
            @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?) -> Int32,
        on database: Database
    ) throws(SQLiteFailure) {
        let code = unsafe sqlite3_create_collation_v2(database.pointer, name, SQLITE_UTF8, nil, compare, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }
}

private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>

private func holdsFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).holds()
}

private func packFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).pack()
}

private func matchFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).match()
}

private func compareFunction(
    _ context: OpaquePointer?,
    _ count: Int32,
    _ values: Arguments?
) {
    unsafe FunctionCall(context, values, count: count).compare()
}

private func itemFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).item()
}

private func mergeFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).merge()
}

private func foldFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).fold()
}

private func wordsFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).words()
}

private func wordFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).word()
}

private func syncStateFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).syncState()
}

private func addToSum(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe SumCall(context)?.add(values)
}

private func addToDecimalSum(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe SumCall(context)?.addAsDecimal(values)
}

private func finishSum(_ context: OpaquePointer?) { unsafe SumCall.finish(context) }

private func compareDecimalTexts(
    _ context: UnsafeMutableRawPointer?,
    _ leftCount: Int32,
    _ left: UnsafeRawPointer?,
    _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    let sign = unsafe compareDecimals(context, leftCount, left, rightCount, right)
    guard sign == 0 else { return sign }
    let left = unsafe UnsafeRawBufferPointer(start: left, count: Int(leftCount))
    let right = unsafe UnsafeRawBufferPointer(start: right, count: Int(rightCount))
    if unsafe left.lexicographicallyPrecedes(right) { return -1 }
    return unsafe right.lexicographicallyPrecedes(left) ? 1 : 0
}

private func isPushingFunction(_ context: OpaquePointer?, _ count: Int32, _ values: Arguments?) {
    unsafe FunctionCall(context, values, count: count).isPushing()
}

private func compareDecimals(
    _ context: UnsafeMutableRawPointer?,
    _ leftCount: Int32,
    _ left: UnsafeRawPointer?,
    _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    let left = unsafe UnsafeRawBufferPointer(start: left, count: Int(leftCount))
    let right = unsafe UnsafeRawBufferPointer(start: right, count: Int(rightCount))
    return unsafe Int32(DecimalDigits(utf8: left).compare(with: DecimalDigits(utf8: right)))
}

private func compareIgnoringCase(
    _ context: UnsafeMutableRawPointer?,
    _ leftCount: Int32,
    _ left: UnsafeRawPointer?,
    _ rightCount: Int32,
    _ right: UnsafeRawPointer?
) -> Int32 {
    let left = unsafe UnsafeRawBufferPointer(start: left, count: Int(leftCount))
    let right = unsafe UnsafeRawBufferPointer(start: right, count: Int(rightCount))
    for index in 0..<min(left.count, right.count) {
        let difference = unsafe Int32(folded(left[index])) - Int32(folded(right[index]))
        if difference != 0 { return difference }
    }
    return leftCount - rightCount
}

private func folded(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
