import QueryEvaluation
import SyncContract

extension PredicateCompiler {
    /// Looks words up in the indexes of searchable columns; without an index for each column the evaluator decides.
    mutating func words(_ text: String, _ match: WordMatch, _ columns: [String]) -> SQLCondition {
        let terms = TextWords.terms(of: text, match)
        let indexes = columns.compactMap { layout.searchIndexes[$0] }
        guard !columns.isEmpty, indexes.count == columns.count else {
            return rowCondition(.words(text, match, in: columns))
        }
        let conditions = terms.map { term in
            let rows = indexes.map { "SELECT \"row\" FROM \($0.words) WHERE \(condition(term))" }
            // Ids are compared as the table compares them: the collation is that of the left side.
            return SQLCondition("(\"id\" IN (\(rows.joined(separator: " UNION ALL "))))", stackNeed: 40)
        }
        return .joined(conditions, isConjunction: true)
    }

    private mutating func condition(_ term: WordTerm) -> String {
        guard term.isPrefix else { return "\"word\" = \(parameter(.text(term.text)))" }
        let start = "\"word\" >= \(parameter(.text(term.text)))"
        return term.text.firstTextBehindPrefix.map { "\(start) AND \"word\" < \(parameter(.text($0)))" } ?? start
    }
}
