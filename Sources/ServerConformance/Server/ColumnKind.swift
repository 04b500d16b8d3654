/// The kinds of columns that rules need.
public enum ColumnKind: String, Sendable, CaseIterable {
    /// Text of up to 200 characters.
    case text
    /// Truth values.
    case boolean
    /// Numbers, with fractions or without.
    case number
    /// Instants, which the server knows as such.
    case date

    /// The names that are tried, in this order.
    var usualNames: [String] {
        switch self {
        case .text: ["text", "title"]
        case .boolean: ["complete", "isComplete"]
        case .number: ["number", "amount"]
        case .date: ["date", "dueDate"]
        }
    }

    /// What is written to find out whether a column is there and of this kind, the best first.
    func samples(text: String) -> [ColumnSample] {
        switch self {
        case .text: [ColumnSample(.string(text)) { $0 == .string(text) }]
        case .boolean: [ColumnSample(true) { $0 == true }]
        case .number:
            [
                ColumnSample(2.5) { $0 == 2.5 },
                ColumnSample(3.0, "whole numbers only") { $0 == 3.0 },
            ]
        case .date:
            [
                // A column that gives either back as it was is one of texts.
                .date("2021-02-03T04:05:06.789+01:00"),
                .date("2021-02-03T03:05:06Z", "no offsets"),
            ]
        }
    }
}

/// A value that shows what a column is.
struct ColumnSample: Sendable {
    /// What is written.
    let sent: JSON
    /// What a column is that takes this sample and not the better ones, for people; nil for the best.
    let restriction: String?
    /// Whether what comes back is what a column of the kind makes of it.
    let fits: @Sendable (JSON) -> Bool

    init(_ sent: JSON, _ restriction: String? = nil, _ fits: @escaping @Sendable (JSON) -> Bool) {
        self.sent = sent
        self.restriction = restriction
        self.fits = fits
    }

    static func date(_ text: String, _ restriction: String? = nil) -> ColumnSample {
        ColumnSample(.string(text), restriction) { kept in
            guard let kept = kept.string, kept != text, let instant = Instant(reading: kept) else { return false }
            return instant == Instant(reading: text)
        }
    }
}
