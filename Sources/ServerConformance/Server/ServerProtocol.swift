/// What a server speaks.
public enum ServerProtocol: Int, Sendable, CaseIterable {
    /// Azure Mobile Apps, protocol 2: bare arrays, PATCH, `Link` headers.
    case azureMobileApps = 2
    /// Datasync, protocol 3: page objects, PUT, `nextLink`.
    case datasync = 3

    /// The name in reports.
    var name: String { self == .datasync ? "Datasync, protocol 3" : "Azure Mobile Apps, protocol 2" }

    /// What `ZUMO-API-VERSION` says.
    var version: String { self == .datasync ? "3.0.0" : "2.0.0" }

    /// The method of an update, and whether it is a merge.
    var updateMethod: String { self == .datasync ? "PUT" : "PATCH" }

    /// The parameter that shows deleted rows, in the spelling that this protocol's own clients use.
    var includeDeleted: (String, String) {
        (self == .datasync ? "__includedeleted" : "__includeDeleted", "true")
    }

    /// The parameter that asks for the total count.
    var countOption: (String, String) {
        self == .datasync ? ("$count", "true") : ("$inlinecount", "allpages")
    }

    /// An instant as a literal of a filter: a stamp of a row in the form that every server takes, any other text as it is.
    func instant(_ text: String) -> String {
        let text = Instant(reading: text)?.text ?? text
        return self == .datasync ? "cast(\(text),Edm.DateTimeOffset)" : "datetimeoffset'\(text)'"
    }
}
