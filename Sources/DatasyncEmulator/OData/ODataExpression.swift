/// A parsed expression. Conditions joined by one operator are one node, however many there are, so that neither a
/// long list of ids nor a deep one can exhaust the stack; all other nesting is bounded by the parser.
indirect enum ODataExpression: Equatable, Sendable {
    enum Comparison: String, Sendable {
        case eq
        case ne
        case gt
        case ge
        case lt
        case le
    }

    enum Arithmetic: String, Sendable {
        case add
        case sub
        case mul
        case div
        case mod
    }

    case literal(ODataValue)
    case property(String)
    case any([ODataExpression])
    case all([ODataExpression])
    case not(ODataExpression)
    case negated(ODataExpression)
    case comparison(Comparison, ODataExpression, ODataExpression)
    case arithmetic(Arithmetic, ODataExpression, ODataExpression)
    case member(ODataExpression, [ODataExpression])
    case call(ODataFunction, [ODataExpression])
    case cast(ODataExpression, ODataNumberType)
}
