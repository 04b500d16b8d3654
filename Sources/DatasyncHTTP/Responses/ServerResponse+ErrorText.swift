internal import HTTPTransport
internal import RemoteContract
internal import SyncContract

extension ServerResponse {
    /// What the server says about a failure, ready to be appended to a message; empty when it says nothing.
    ///
    /// Everything that is not JSON is left out: pages for browsers may repeat the request's headers. So are credentials that a
    /// service repeats.
    var serverText: String {
        guard (400...599).contains(status), var text = errorText else { return "" }
        if let request { text = RemoteExchange.redaction(of: request)(text) }
        let line = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return ": " + String(line.prefix(200)) + (line.count > 200 ? "…" : "")
    }

    /// The largest number of rows that one may ask for, when asking for more is what the server refused.
    var maximumTop: Int? {
        guard status == 400, body.count <= 4_096 else { return nil }
        let text = errorText ?? String(decoding: body, as: UTF8.self)
        // ASP.NET's words, then the Node server's.
        for (start, end) in [("limit of '", "' for Top"), ("request more than ", " records")] {
            guard let start = text.firstRange(of: start), let end = text[start.upperBound...].firstRange(of: end) else {
                continue
            }
            if let number = Int(text[start.upperBound..<end.lowerBound]), number > 0 { return number }
        }
        return nil
    }

    private var errorText: String? {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONNode(parsing: body)
        } catch {
            // A failure without JSON has nothing to add to its status.
            return nil
        }
        let text = Self.validationTexts(node) ?? Self.text(node)
        return text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A JSON string, or one of the members that servers put their text in; the standard error object nests it.
    private static func text(_ node: JSONNode) -> String? {
        node.stringValue ?? node["error"]?.stringValue ?? node["error"]?["message"]?.stringValue
            ?? node["description"]?.stringValue ?? node["message"]?.stringValue ?? node["title"]?.stringValue
    }

    /// The texts of failed validations, with the members they are about: a list, or an object by member. Nil when there
    /// are none.
    private static func validationTexts(_ node: JSONNode) -> String? {
        var texts: [String] = []
        for element in node.elements ?? [] {
            guard let text = element["errorMessage"]?.stringValue else { continue }
            let names = element["memberNames"]?.elements?.compactMap(\.stringValue) ?? []
            texts.append((names.isEmpty ? "" : names.joined(separator: ", ") + ": ") + text)
        }
        if case .object(let members, _)? = node["errors"] {
            for (name, value) in members.sorted(by: { $0.name < $1.name }) {
                texts += (value.elements ?? []).compactMap(\.stringValue).map { "\(name): \($0)" }
            }
        }
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }
}
