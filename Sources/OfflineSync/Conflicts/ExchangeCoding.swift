internal import RecordJSON
internal import RemoteContract
internal import SyncContract

/// What went over the wire, as JSON beside the error of a change, and back.
enum ExchangeCoding {
    static func text(_ exchange: RemoteExchange) -> String {
        var json = JSONWriter()
        json.add("method", exchange.method)
        json.add("path", exchange.path)
        json.add("requestFields", json: fields(exchange.requestFields))
        if let body = exchange.requestBody { json.add("requestBody", body) }
        if let status = exchange.status { json.add("status", Int64(status)) }
        json.add("answerFields", json: fields(exchange.answerFields))
        if let body = exchange.answerBody { json.add("answerBody", body) }
        return json.object
    }

    /// Nil for what is none: it is told for support only, and the error counts without it.
    static func exchange(_ node: JSONNode) -> RemoteExchange? {
        guard let method = node["method"]?.stringValue, let path = node["path"]?.stringValue else { return nil }
        return RemoteExchange(
            stored: method,
            path: path,
            requestFields: fields(node["requestFields"]),
            requestBody: node["requestBody"]?.stringValue,
            status: node["status"]?.int64Value.flatMap(Int.init(exactly:)),
            answerFields: fields(node["answerFields"]),
            answerBody: node["answerBody"]?.stringValue
        )
    }

    private static func fields(_ fields: [RemoteExchange.Field]) -> String {
        let texts = fields.map { field in
            var json = JSONWriter()
            json.add("name", field.name)
            if let value = field.value { json.add("value", value) }
            return json.object
        }
        return "[" + texts.joined(separator: ",") + "]"
    }

    private static func fields(_ node: JSONNode?) -> [RemoteExchange.Field] {
        (node?.elements ?? [])
            .compactMap { node in
                node["name"]?.stringValue.map { RemoteExchange.Field(name: $0, value: node["value"]?.stringValue) }
            }
    }
}
