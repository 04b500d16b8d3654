import DatasyncEmulator
import Foundation

/// Servers of other make: they do what the protocols leave open otherwise than the emulator.
enum OtherServers {
    /// Datasync on ASP.NET: columns of its own, unknown members ignored, absolute links, other bodies of errors, and 500
    /// where the genuine server says so.
    static let datasync: Answering = { request, emulator in
        var request = request
        let known = ["id", "deleted", "updatedAt", "version", "title", "isComplete", "amount", "dueDate"]
        if ["POST", "PUT"].contains(request.method), request.headers["Content-Type"]?.contains("json") == true {
            guard case .object(let item) = request.json else {
                return EmulatorResponse(request.json == .null && !request.body.starts(with: "null".utf8) ? 500 : 400)
            }
            let defaults: [String: JSONValue] = ["title": nil, "isComplete": false, "amount": 0, "dueDate": nil]
            let kept = Dictionary(
                item.compactMap { member in
                    known.first { $0.lowercased() == member.key.lowercased() }.map { ($0, member.value) }
                }
            ) { $1 }
            guard kept["isComplete"]?.string == nil, kept["amount"]?.string == nil, kept["title"]?.object == nil else {
                return EmulatorResponse(500)
            }
            request.json = .object(defaults.merging(kept) { $1 })
        }
        if let tags = request.headers["If-Match"], tags != "*", !tags.contains("\"") {
            request.headers["If-Match"] = nil
        }
        let isList = request.headers["If-Match"]?.contains(",") == true
        var answer = try await emulator.handle(request)
        if isList, answer.status == 200 { return EmulatorResponse(500) }
        if answer.status == 400 { answer.body = Data() }
        if answer.status == 415 || answer.status == 404 { answer = .html(answer.status, "<p>problem</p>") }
        answer.headers["Server"] = "Kestrel"
        answer.headers["X-Extra"] = "a, \"b\"; c"
        if case .object(var page) = answer.json, let link = page["nextLink"]?.string {
            page["nextLink"] = .string("http://\(request.headers["Host"] ?? "")\(request.path)?\(link)")
            answer.json = .object(page)
        }
        if !answer.body.isEmpty { answer.body = Self.backwards(answer.json, indentation: "") }
        return answer
    }

    /// The Node server on sqlite: functions that find nothing or fail, as was observed.
    static let nodeOnSQLite: Answering = { request, emulator in
        let filter = request["$filter"] ?? ""
        if ["startswith(", "endswith(", "substringof(", " mod ", "hour("].contains(where: filter.contains) {
            return .json(200, request["$inlinecount"] == nil ? [] : ["results": [], "count": 0])
        }
        if ["length(", "year(", "month(", "day("].contains(where: filter.contains) || filter.contains("text,1)") {
            return .json(500, ["error": "SQLITE_ERROR: no such function"])
        }
        var answer = try await emulator.handle(request)
        answer.headers["Content-Type"] = "application/json; charset=utf-8"
        return answer
    }

    /// The .NET server in protocol 2: 204 and 410 where Node says 200 and 404, its own row in conflicts, links by the book.
    static let dotNet2: Answering = { request, emulator in
        var answer = try await emulator.handle(request)
        switch (request.method, answer.status) {
        case ("DELETE", 200): answer = EmulatorResponse(204)
        case ("DELETE", 409...412) where answer.json["deleted"] == true: answer = EmulatorResponse(410)
        case ("POST", 409):
            let id = request.json["id"]?.string ?? ""
            answer.json = emulator.row(id).map { .object($0) } ?? .null
        case ("GET", 404) where emulator.row(request.id) != nil: answer = EmulatorResponse(410)
        case (_, 500...599): answer = .json(400, ["title": "problem"])
        default: break
        }
        if let link = answer.headers["Link"], let query = link.split(separator: "?").last?.split(separator: ";").first {
            answer.headers["Link"] = "<http://\(request.headers["Host"] ?? "")\(request.path)?\(query)>; rel=\"next\""
        }
        if !answer.body.isEmpty, answer.json != .null { answer.body = Self.backwards(answer.json, indentation: "") }
        return answer
    }

    /// JSON with the members of objects in the order Z to A, one a line, and letters beyond ASCII escaped.
    private static func backwards(_ value: JSONValue, indentation: String) -> Data {
        func text(_ value: JSONValue, _ indentation: String) -> String {
            switch value {
            case .object(let members):
                let lines = members.sorted { $0.key > $1.key }
                    .map { name, value in "\(indentation)  \"\(name)\" : \(text(value, indentation + "  "))" }
                return "{\r\n\(lines.joined(separator: ",\r\n"))\r\n\(indentation)}"
            case .array(let values): return "[ \(values.map { text($0, indentation) }.joined(separator: " , ")) ]"
            case .string(let string):
                return "\"" + string.utf16.map { String(format: "\\u%04X", $0) }.joined() + "\""
            case .integer(let number): return "\(number).0"
            default: return String(decoding: value.encoded, as: UTF8.self)
            }
        }
        return Data(text(value, indentation).utf8)
    }
}
