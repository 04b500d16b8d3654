/// A value that a predicate compares: a column, a given value, or what is computed from them.
///
/// Every expression has a value for every row; there are no errors. What has no result is null: a null or a value of
/// another kind as operand, a division by zero, a number out of range, a negative position. A comparison with a null is
/// false, as ``Query`` says.
///
/// **Numbers.** Two whole numbers give a whole number; null when it does not fit 64 bits. With a double on either side
/// both count as doubles, rounded to the nearest, and the result is rounded as IEEE 754 says; null when it is not
/// finite. Otherwise, with a decimal on either side, sum, difference, product and remainder are exact, and a quotient is
/// rounded to 34 significant digits, half to even. A decimal with a digit other than zero more than 100 places before or
/// behind the point has no result where it is an operand or a result of these; one that is merely compared counts as it is.
///
/// **Text** is counted in Unicode scalars from 0, as SQLite and PostgreSQL do, so that no position lies inside of a
/// character's encoding and every part of a text is a text. Without folding, texts are equal when their bytes are.
///
/// **Dates** are taken apart in UTC and the Gregorian calendar, also before its introduction.
///
/// **Servers differ** among themselves; a filter that is sent means what the server makes of it. Known: SQL Server and
/// .NET count text in UTF-16 units, so that a character beyond U+FFFF counts as two, and SQL Server's length leaves out
/// spaces at the end; .NET servers without a database trim all white space, round half to even and take a null for an
/// empty text in a concatenation; `lowercased` and `uppercased` there change letters of every script; division by zero
/// and overflow are errors on most; protocol 2's Node server has no whole numbers, so that its division keeps the
/// fraction, and with SQL Server it takes `%`, `_` and `[` in a text that is searched for as wildcards and rounds a number
/// before it takes a remainder. `replace` is not part of this: protocol 3 does not have it.
public indirect enum QueryExpression: Sendable, Hashable {
    /// The value of a column, `id` included.
    case column(String)
    /// A given value.
    case value(FieldValue)
    /// A function of one operand.
    case function(QueryFunction, QueryExpression)
    /// An operator between two operands.
    case operation(QueryExpression, QueryOperator, QueryExpression)
    /// The scalars of a text from a position on, as many as there are or as given.
    ///
    /// Position and count are whole numbers; null when one is negative. From the text's end on there is the empty text.
    case substring(QueryExpression, from: QueryExpression, count: QueryExpression?)

    /// Text with A to Z made lower-case; null when the operand is not a string.
    public static func lowercased(_ operand: QueryExpression) -> QueryExpression { .function(.lowercased, operand) }

    /// Text with a to z made upper-case; null when the operand is not a string.
    public static func uppercased(_ operand: QueryExpression) -> QueryExpression { .function(.uppercased, operand) }

    /// Text folded as `TextFolding` says; null when the operand is not a string.
    public static func folded(_ operand: QueryExpression) -> QueryExpression { .function(.folded, operand) }
}

/// A function of one operand; null for a null and for an operand of another kind.
public enum QueryFunction: Sendable, Hashable, CaseIterable {
    /// Text with A to Z made lower-case.
    case lowercased
    /// Text with a to z made upper-case.
    case uppercased
    /// Text without differences of case, accents and the like: see `TextFolding`. For the local store only: no server
    /// has it.
    case folded
    /// Text without the spaces (U+0020) at its start and end. Other white space stays.
    case trimmed
    /// The number of Unicode scalars of a text.
    case length

    /// The nearest number without fraction, of the same type; a half goes away from zero.
    case rounded
    /// The largest number without fraction that is not larger, of the same type.
    case floor
    /// The smallest number without fraction that is not smaller, of the same type.
    case ceiling

    /// The year of a date. The year before 1 is 0.
    case year
    /// The month of a date, 1 to 12.
    case month
    /// The day of the month of a date, 1 to 31.
    case day
    /// The hour of a date, 0 to 23.
    case hour
    /// The minute of a date, 0 to 59.
    case minute
    /// The second of a date, 0 to 59, without its fraction.
    case second
}

/// An operator between two operands; null when either is null or of another kind.
public enum QueryOperator: Sendable, Hashable, CaseIterable {
    /// The sum of two numbers.
    case add
    /// The first number without the second.
    case subtract
    /// The product of two numbers.
    case multiply
    /// The quotient of two numbers: of whole numbers without its fraction. Null for a division by zero.
    case divide
    /// What a division without fraction leaves, with the sign of the first number. Null for a division by zero.
    case remainder

    /// The first text followed by the second; null when that has more than 16,777,216 bytes.
    case concatenate
    /// The position in the first text where the second begins for the first time; -1 when it does not occur.
    case position
}
