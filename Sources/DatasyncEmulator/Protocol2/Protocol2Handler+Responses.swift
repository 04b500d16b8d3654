import Foundation

extension Protocol2Handler {
    // MARK: Rows

    static func members(of row: EmulatedRow, in table: EmulatedTable) -> [String: JSONValue] {
        var members = table.columns.mapValues { _ in JSONValue.null }
        members.merge(row.values) { $1 }
        members["id"] = .string(row.id.text)
        members["createdAt"] = .string(Timestamp.text(milliseconds: row.createdAt))
        members["updatedAt"] = .string(Timestamp.text(milliseconds: row.updatedAt))
        members["version"] = .string(row.version)
        members["deleted"] = .bool(row.deleted)
        return members
    }

    func entity(_ status: Int, _ row: EmulatedRow, in table: EmulatedTable) -> EmulatorResponse {
        var response = makeResponse(status, .object(Self.members(of: row, in: table)))
        response.headers["ETag"] = "\"\(row.version)\""
        return status < 300 ? uncached(response) : response
    }

    // MARK: Anything else

    func makeResponse(_ status: Int, _ body: JSONValue) -> EmulatorResponse {
        var response = EmulatorResponse.json(status, body)
        response.headers["X-Powered-By"] = "Express"
        response.headers["x-zumo-server-version"] = serverVersion
        response.headers["ETag"] = Self.weakTag(response.body)
        return response
    }

    private var serverVersion: String {
        configuration.edition == .node4 ? "node-4.0.2" : "node-3.0.0"
    }

    func error(_ status: Int, _ message: String) -> EmulatorResponse {
        makeResponse(status, ["error": .string(message)])
    }

    var missing: EmulatorResponse {
        error(404, "The item does not exist")
    }

    func uncached(_ response: EmulatorResponse) -> EmulatorResponse {
        var response = response
        response.headers["cache-control"] = "no-cache"
        response.headers["expires"] = "0"
        response.headers["pragma"] = "no-cache"
        return response
    }

    /// Express' own answer to what no route takes.
    var notRouted: EmulatorResponse {
        page(404, "Cannot \(request.method) \(request.path)")
    }

    func page(_ status: Int, _ text: String) -> EmulatorResponse {
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
        let lines = [
            "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">", "<title>Error</title>",
            "</head>", "<body>", "<pre>\(escaped)</pre>", "</body>", "</html>", "",
        ]
        var response = EmulatorResponse.html(status, lines.joined(separator: "\n"))
        response.headers["X-Powered-By"] = "Express"
        response.headers["x-zumo-server-version"] = serverVersion
        response.headers["Content-Security-Policy"] = "default-src 'none'"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response
    }

    /// A tag that says only that two bodies are equal: their length and a hash (FNV-1a).
    private static func weakTag(_ body: Data) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in body {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return "W/\"\(String(body.count, radix: 16))-\(String(hash, radix: 36))\""
    }
}
