/// The options of a list request, as a Datasync server reads them: names in any case, those that it does not know
/// ignored, and the values of a repeated one joined by commas, which most options do not take.
struct QueryOptions {
    private(set) var filter: String?
    private(set) var order: String?
    private(set) var select: String?
    private(set) var skip = 0
    private(set) var top: Int?
    /// Whether the number of all matching rows is wanted: any value asks for it.
    private(set) var count = false
    private let all: [(name: String, value: String)]

    init(_ options: [(name: String, value: String)], maximumTop: Int) throws(ODataError) {
        all = options
        let names = options.map { $0.name.lowercased() }
        for (index, name) in names.enumerated() where name.hasPrefix("$") && names.firstIndex(of: name) == index {
            let value = zip(names, options).filter { $0.0 == name }.map(\.1.value).joined(separator: ",")
            switch name {
            case "$filter": filter = try Self.nonEmpty(value, of: name)
            case "$orderby": order = try Self.nonEmpty(value, of: name)
            case "$select": select = value
            case "$skip": skip = try Self.number(value, of: name, maximum: Int(Int32.max))
            case "$top": top = try Self.number(value, of: name, maximum: maximumTop)
            case "$count":
                _ = try Self.nonEmpty(value, of: name)
                count = true
            default: try Self.refuse(name, value)
            }
        }
    }

    private static func nonEmpty(_ value: String, of name: String) throws(ODataError) -> String {
        guard value.utf8.contains(where: { $0 != 0x20 }) else {
            throw ODataError(reason: .serverFailure, message: "The query option '\(name)' is empty.", position: 0)
        }
        return value
    }

    private static func number(_ text: String, of name: String, maximum: Int) throws(ODataError) -> Int {
        let digits = try nonEmpty(text, of: name).split(separator: " ").joined(separator: " ")
        guard let number = Int(digits), number >= 0, number <= Int32.max else {
            throw .syntax("Invalid value '\(text)' for \(name) query option found.", at: 0)
        }
        guard number <= maximum else {
            let option = name.dropFirst().prefix(1).uppercased() + name.dropFirst(2)
            throw .syntax(
                "The limit of '\(maximum)' for \(option) query has been exceeded. The value from the incoming request is"
                    + " '\(number)'.",
                at: 0
            )
        }
        return number
    }

    /// Options that the server knows and does not take; all others it ignores.
    private static func refuse(_ name: String, _ value: String) throws(ODataError) {
        let isWellFormed =
            switch name {
            case "$apply": value.contains("(") && value.hasSuffix(")")
            case "$compute": value.contains(" as ")
            case "$expand", "$deltatoken": false
            case "$skiptoken":
                throw ODataError(reason: .serverFailure, message: "There is no '\(name)'.", position: 0)
            default: true
            }
        if !isWellFormed { throw .syntax("The query option '\(name)' cannot be read or is not allowed.", at: 0) }
    }

    /// The query of the next page, without a question mark: this one's with the position moved on in its place.
    func next(skip: Int, top: Int?) -> String {
        var options = all
        var isSkipThere = false
        for (index, option) in options.enumerated() {
            switch option.name.lowercased() {
            case "$skip":
                options[index].value = skip.description
                isSkipThere = true
            case "$top": options[index].value = top?.description ?? option.value
            default: continue
            }
        }
        if !isSkipThere { options.append(("$skip", skip.description)) }
        return options.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    /// As .NET's encoder for URLs leaves it.
    private static func encoded(_ text: String) -> String {
        PercentEncoding.encode(text, also: "!$()*,;@")
    }
}
