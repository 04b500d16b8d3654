internal import HTTPTransport
internal import RemoteContract

extension ServerResponse {
    /// Request and answer as they are told for support; nil where it is not known what was asked.
    var exchange: RemoteExchange? { request.map { RemoteExchange($0, self) } }
}

extension RemoteExchange {
    /// A request of this protocol and its answer, if there was one.
    ///
    /// Of the query, only what is the protocol's own keeps its values: the others are the service's, and may be keys.
    init(_ request: HTTPRequest, _ response: ServerResponse? = nil) {
        let (path, secrets) = Self.withoutForeignValues(request.path ?? "")
        self.init(
            method: request.method.rawValue,
            path: path,
            requestFields: Self.pairs(request.headerFields),
            requestBody: request.body,
            status: response?.status,
            answerFields: response.map { Self.pairs($0.fields) } ?? [],
            answerBody: response?.body,
            secrets: secrets
        )
    }

    /// Leaves out what is secret in a request, wherever a server repeats it.
    static func redaction(of request: HTTPRequest) -> SecretRedaction {
        redaction(of: pairs(request.headerFields), withoutForeignValues(request.path ?? "").secrets)
    }

    private static func pairs(_ fields: HTTPFields) -> [(name: String, value: String)] {
        fields.map { ($0.name.rawName, $0.value) }
    }

    /// The parameters of the protocols, and those of OData that their servers know.
    private static let ownNames: Set<String> = [
        "$filter", "$orderby", "$select", "$skip", "$top", "$count", "$inlinecount", "$skiptoken", "$expand", "$search",
        "$apply", "$format", "__includedeleted", "__systemproperties",
    ]

    private static func withoutForeignValues(_ path: String) -> (path: String, secrets: [String]) {
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return (path, []) }
        var secrets: [String] = []
        let query = parts[1].split(separator: "&")
            .map { part -> String in
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = pair[0].lowercased().replacing("%24", with: "$")
                guard pair.count == 2, !Self.ownNames.contains(name) else { return String(part) }
                secrets.append(String(pair[1]))
                return pair[0] + "="
            }
        return (parts[0] + "?" + query.joined(separator: "&"), secrets)
    }
}
