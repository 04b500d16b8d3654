import Foundation

extension Protocol3Handler {
    // MARK: Rows

    /// The answer with a row; a genuine 500 where it holds a number that has no form in JSON.
    func entity(_ status: Int, _ row: EmulatedRow, in table: EmulatedTable) -> EmulatorResponse {
        var body: [UInt8] = []
        guard table.layout.write(row, to: &body) else { return EmulatorResponse(500) }
        var response = Self.makeResponse(status, body)
        response.headers["ETag"] = "\"\(row.version)\""
        response.headers["Last-Modified"] = Timestamp.httpText(milliseconds: row.updatedAt)
        return response
    }

    static func makeResponse(_ status: Int, _ body: [UInt8]) -> EmulatorResponse {
        var response = EmulatorResponse(status, body: Data(body))
        response.headers["Content-Type"] = "application/json; charset=utf-8"
        response.isChunked = true
        return response
    }

    /// A row's members, for those who look at it without a request.
    static func members(of row: EmulatedRow, in table: EmulatedTable) -> [String: JSONValue] {
        var members = row.values
        for name in table.layout.names where members[name] == nil { members[name] = .null }
        members["id"] = .string(row.id.text)
        members["updatedAt"] = .string(Timestamp.text(milliseconds: row.updatedAt))
        members["version"] = .string(row.version)
        members["deleted"] = .bool(row.deleted)
        return members
    }

    // MARK: Refusals

    func unmetCondition(for row: EmulatedRow, in table: EmulatedTable) -> EmulatorResponse? {
        let conditions = PreconditionHeaders(request.headers, isGenuine: configuration.isGenuine)
        switch conditions.evaluate(version: row.version, updatedAt: row.updatedAt, isRead: request.method == "GET") {
        case .met: return nil
        case .notModified: return EmulatorResponse(304)
        case .failed: return entity(412, row, in: table)
        case .malformed(let header): return failure("The \(header) header is not a list of quoted ETags.")
        }
    }

    func refusal(_ refusal: Protocol3Item.Refusal) -> EmulatorResponse {
        switch refusal {
        case .unsupportedMediaType: EmulatorResponse(415)
        case .null: EmulatorResponse(400)
        case .unreadable(let message): failure(message)
        }
    }

    func refusal(_ error: ODataError) -> EmulatorResponse {
        switch error.reason {
        case .syntax, .unknownProperty: Self.error(error.message)
        case .untranslatable: EmulatorResponse(400)
        case .serverFailure: failure(error.message)
        }
    }

    /// What the genuine server does not foresee, so that it answers 500, and what is the client's mistake all the same.
    private func failure(_ message: String) -> EmulatorResponse {
        configuration.isGenuine ? EmulatorResponse(500) : Self.error(message)
    }

    /// A 400 with the object in which the server says what is wrong with a query.
    private static func error(_ message: String) -> EmulatorResponse {
        var body = Array("{\"code\":\"400\",\"message\":".utf8)
        DotNetJSON.write(message, to: &body)
        let rest =
            ",\"target\":null,\"details\":null,\"innerError\":null,\"instanceAnnotations\":[],\"typeAnnotation\":null}"
        return makeResponse(400, body + rest.utf8)
    }
}
