/// What the help says of an option, a flag or an argument.
package struct ArgumentHelp: Sendable, ExpressibleByStringInterpolation {
    let abstract: String
    let valueName: String?

    /// - Parameters:
    ///   - abstract: A sentence or two.
    ///   - valueName: What stands for the value, as in `--store <dir>`; otherwise the name of the option.
    package init(_ abstract: String = "", valueName: String? = nil) {
        self.abstract = abstract
        self.valueName = valueName
    }

    package init(stringLiteral value: String) { self.init(value) }
}

/// How an option or a flag is called.
package enum NameSpecification: Sendable {
    /// As its property, in small letters with hyphens: `--page-size` for `pageSize`.
    case long
    /// `--` and this.
    case customLong(String)

    func name(of property: String) -> String {
        switch self {
        case .long: "--" + property.hyphenated
        case .customLong(let name): "--" + name
        }
    }
}

extension String {
    /// The name of a property in small letters with hyphens: `query-id` for `queryID`, `url-path` for `urlPath`.
    var hyphenated: String {
        let letters = Array(self)
        var result = ""
        for (index, letter) in letters.enumerated() {
            if letter.isUppercase, index > 0 {
                let endsAcronym = index + 1 < letters.count && letters[index + 1].isLowercase
                if !letters[index - 1].isUppercase || endsAcronym { result += "-" }
            }
            result += letter.lowercased()
        }
        return result
    }
}
