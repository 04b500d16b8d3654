extension JSONValue {
    /// What the predecessor's PATCH makes of a value: its JSON reader takes texts for dates that look like some, within objects and
    /// lists as well, and they are written in a form of its own.
    var readAsDates: JSONValue {
        switch self {
        case .string(let text): .string(Self.dateText(text) ?? text)
        case .array(let values): .array(values.map(\.readAsDates))
        case .object(let members): .object(members.mapValues(\.readAsDates))
        default: self
        }
    }

    private static func dateText(_ text: String) -> String? {
        if text.hasPrefix("/Date("), text.hasSuffix(")/"), let milliseconds = Int64(text.dropFirst(6).dropLast(2)) {
            return dateText(Timestamp.text(milliseconds: milliseconds))
        }
        guard text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.*/) != nil,
            let ticks = Timestamp.ticks(isoText: text)
        else { return nil }
        let isUTC = text.hasSuffix("Z")
        // Without a zone it stays what it is.
        guard isUTC || text.dropFirst(19).contains(where: { "+-".contains($0) }) else { return nil }
        var fraction = text.dropFirst(19).prefix { $0 == "." || $0.isNumber }
        while let last = fraction.last, last == "0" || last == "." { fraction.removeLast() }
        let whole =
            isUTC ? text.prefix(19) : Timestamp.text(milliseconds: ticks / Timestamp.ticksPerMillisecond).prefix(19)
        return whole + fraction + (isUTC ? "Z" : "+00:00")
    }
}
