import DatasyncEmulator
import Foundation
import Synchronization

/// A small REST service of another kind than those that the project knows: every change gets the next number of one
/// sequence, and clients ask for what came after the number that they know.
///
/// - `GET /TABLE/changes?since=NUMBER&limit=COUNT`: the rows that changed after a number, each once and as it is now, in the
///   order of their numbers, one JSON object a line. `Last-Sequence` is the number that the page reaches, `More` says
///   whether rows follow. 410 for a number that the service has not given yet.
/// - `GET /TABLE/rows/ID`: the row, also a deleted one; 404.
/// - `PUT /TABLE/rows/ID`: writes the whole row; `"deleted": true` makes it a deleted one. `If-Match` names the revision
///   it is based on (`*` any), `If-None-Match: *` wants that there is none. Answers the row; 412 and the row there is when
///   it is another one, or is deleted and `Restore: true` was not sent; 404.
/// - `DELETE /TABLE/rows/ID`: as writing it as deleted; the row as it is when it is deleted already.
/// - `POST /batch`: up to 50 such writes, one a line, answered by one line each.
///
/// Every answer has the field `Notes-Service`.
final class NotesService: Sendable {
    struct Row: Sendable {
        var members: [String: JSONValue]
        var revision: Int
        var sequence: Int
        var isDeleted: Bool

        var json: JSONValue {
            .object(
                members.merging(
                    [
                        "rev": .string("r\(revision)"), "seq": .integer(Int64(sequence)), "deleted": .bool(isDeleted),
                    ]
                ) { $1 }
            )
        }
    }

    private struct State {
        var tables: [String: [String: Row]]
        var sequence = 0
    }

    /// A write: what PUT and DELETE say, and a line of a batch.
    struct Write: Sendable {
        var table: String
        var id: String
        /// What is to be there: `new`, `any`, or a revision.
        var base: String
        var restores = false
        /// The row to write; nil for a deletion.
        var row: [String: JSONValue]?
    }

    struct Outcome: Sendable {
        var status: Int
        var row: Row?
    }

    private let state: Mutex<State>

    init(tables: [String]) {
        state = Mutex(State(tables: Dictionary(uniqueKeysWithValues: tables.map { ($0, [:]) })))
    }

    /// All rows of a table, deleted ones included.
    func rows(of table: String) -> [Row] {
        state.withLock { ($0.tables[table] ?? [:]).values.sorted { $0.sequence < $1.sequence } }
    }

    /// Carries a write out, or says why not.
    func carryOut(_ write: Write) -> Outcome {
        state.withLock { state in
            guard let rows = state.tables[write.table] else { return Outcome(status: 404) }
            let row = rows[write.id]
            let isDeletion = write.row == nil || write.row?["deleted"] == .bool(true)
            if let row {
                let isBase = write.base == "any" || write.base == "r\(row.revision)"
                if row.isDeleted, write.row == nil { return Outcome(status: 200, row: row) }
                let isClosed = row.isDeleted && !write.restores && !isDeletion
                guard isBase, !isClosed else { return Outcome(status: 412, row: row) }
            } else if write.base != "new" {
                return Outcome(status: 404)
            }
            state.sequence += 1
            var members = write.row ?? row?.members ?? [:]
            for name in ["rev", "seq", "deleted"] { members[name] = nil }
            members["id"] = .string(write.id)
            let written = Row(
                members: members,
                revision: (row?.revision ?? 0) + 1,
                sequence: state.sequence,
                isDeleted: isDeletion
            )
            state.tables[write.table]?[write.id] = written
            return Outcome(status: 200, row: written)
        }
    }

    // MARK: Requests

    func answer(_ request: EmulatorRequest) -> EmulatorResponse {
        let path = request.path.split(separator: "/").map { String($0).removingPercentEncoding ?? "" }
        var answer: EmulatorResponse
        switch (request.method, path.count) {
        case ("POST", 1) where path[0] == "batch": answer = batch(request)
        case ("GET", 2) where path[1] == "changes": answer = changes(of: path[0], request)
        case ("GET", 3) where path[1] == "rows":
            let row = state.withLock { $0.tables[path[0]]?[path[2]] }
            answer = row.map { .json(200, $0.json) } ?? EmulatorResponse(404)
        case ("PUT", 3) where path[1] == "rows", ("DELETE", 3) where path[1] == "rows":
            let outcome = carryOut(write(request, table: path[0], id: path[2]))
            answer = outcome.row.map { .json(outcome.status, $0.json) } ?? EmulatorResponse(outcome.status)
        default: answer = EmulatorResponse(404)
        }
        answer.headers["Notes-Service"] = "1"
        return answer
    }

    private func write(_ request: EmulatorRequest, table: String, id: String) -> Write {
        let base = request.headers["If-Match"]?.trimmingCharacters(in: ["\""])
        return Write(
            table: table,
            id: id,
            base: request.headers["If-None-Match"] == nil ? (base == "*" ? "any" : base ?? "any") : "new",
            restores: request.headers["Restore"] == "true",
            row: request.method == "DELETE" ? nil : Self.object(request.body) ?? [:]
        )
    }

    private func batch(_ request: EmulatorRequest) -> EmulatorResponse {
        let lines = request.body.split(separator: UInt8(ascii: "\n")).map { Self.object(Data($0)) }
        guard lines.count <= 50 else { return EmulatorResponse(413) }
        let answers = lines.map { line -> JSONValue in
            let write = Write(
                table: line?["table"]?.string ?? "",
                id: line?["id"]?.string ?? "",
                base: line?["base"]?.string ?? "",
                restores: line?["restore"]?.bool ?? false,
                row: line?["row"]?.object
            )
            let outcome = carryOut(write)
            return [
                "id": .string(write.id), "status": .integer(Int64(outcome.status)), "row": outcome.row?.json ?? .null,
            ]
        }
        return Self.lines(answers)
    }

    private func changes(of table: String, _ request: EmulatorRequest) -> EmulatorResponse {
        let options = Dictionary(request.options.map { ($0.name, $0.value) }) { $1 }
        let (since, limit) = (Int(options["since"] ?? "0") ?? 0, Int(options["limit"] ?? "50") ?? 50)
        let found = state.withLock { state in
            state.tables[table]
                .map { rows in
                    (rows.values.filter { $0.sequence > since }.sorted { $0.sequence < $1.sequence }, state.sequence)
                }
        }
        guard let (rows, newest) = found else { return EmulatorResponse(404) }
        guard since <= newest else { return EmulatorResponse(410) }
        let page = Array(rows.prefix(limit))
        var answer = Self.lines(page.map(\.json))
        let isLast = page.count == rows.count
        answer.headers["Last-Sequence"] = String(isLast ? newest : page.last?.sequence ?? since)
        answer.headers["More"] = isLast ? "false" : "true"
        return answer
    }

    private static func lines(_ values: [JSONValue]) -> EmulatorResponse {
        var body = Data()
        for value in values { body += value.encoded + Data("\n".utf8) }
        return EmulatorResponse(200, headers: ["Content-Type": "application/x-ndjson"], body: body)
    }

    private static func object(_ data: Data) -> [String: JSONValue]? {
        do {
            return try JSONValue(parsing: data).object
        } catch {
            // A service for tests: what is no object is an empty one.
            return nil
        }
    }
}
