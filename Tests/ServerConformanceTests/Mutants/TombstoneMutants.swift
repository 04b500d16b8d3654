import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of what becomes of deleted rows, and of what is shown of them.
    static let tombstones: [ServerMutant] = [
        answering(.datasync, "read.tombstone-included", "leaves the text out of a deleted row read by id") {
            request,
            answer in
            guard request.method == "GET", request.isRow, request["__includedeleted"] != nil else { return }
            answer = answer.withRows { if $0["deleted"] == true { $0["text"] = nil } }
        },
        answering(.datasync, "conflict.tombstone-body", "sends a deleted row with a 409 and not its ETag") {
            request,
            answer in
            if request.method == "POST", answer.status == 409, answer.json["deleted"] == true {
                answer.headers["ETag"] = nil
            }
        },
        afterRefusal(.datasync, "conflict.tombstone", "answers 409 and writes into the deleted row", "POST", 409) {
            $0["text"] = $1["text"]
        },
        afterRefusal(.azureMobileApps, "conflict.tombstone", "answers 409 and touches the deleted row", "POST", 409) {
            row,
            _ in row["version"] = "b3RoZXI="
        },
        afterRefusal(.datasync, "delete.again", "gives a deleted row another version at each deletion", "DELETE", 410) {
            row,
            _ in row["version"] = "b3RoZXI="
        },
        afterRefusal(.azureMobileApps, "delete.again", "empties a deleted row at the next deletion", "DELETE", 409) {
            row,
            _ in row["text"] = nil
        },
        afterRefusal(.datasync, "replace.tombstone", "answers 410 and replaces the deleted row", "PUT", 410) {
            $0["text"] = $1["text"]
        },
        asking(.datasync, "replace.tombstone", "looks at If-Match before it looks whether the row is deleted") {
            request in
            guard request.method == "PUT", request.headers["If-Match"] != nil else { return }
            request["__includedeleted"] = "true"
        },
        ServerMutant(.azureMobileApps, "patch.tombstone", "takes any version for that of a deleted row") {
            request,
            emulator in
            let isDeleted = emulator.row(request.id)?["deleted"] == true
            return try await emulator.handle(
                request.with { if $0.method == "PATCH", isDeleted { $0.headers["If-Match"] = nil } }
            )
        },
        firstContentMutant,
        answering(.datasync, "undelete.if-match", "sends no row with the 412 to a stale restoration") {
            request,
            answer in
            if request["__includedeleted"] != nil, answer.status == 412 { answer.body = Data() }
        },
        afterRefusal(.azureMobileApps, "undelete.if-match", "answers 412 and touches the deleted row", "POST", 412) {
            row,
            _ in row["updatedAt"] = "2099-01-01T00:00:00.000Z"
        },
        afterRefusal(.datasync, "undelete.stays-deleted", "answers 412 and writes into the deleted row", "PUT", 412) {
            row,
            _ in row["text"] = "written"
        },
        ServerMutant(.datasync, "undelete.listed", "answers a row that is back with the stamp of its deletion") {
            request,
            emulator in
            let old = emulator.row(request.id)
            let answer = try await emulator.handle(request)
            guard request.method == "PUT", answer.status == 200, old?["deleted"] == true else { return answer }
            return answer.withRows { $0["updatedAt"] = old?["updatedAt"] }
        },
        puttingLast(.datasync, "tombstone.order") { $0?.hasPrefix("updatedAt") == true },
        puttingLast(.azureMobileApps, "tombstone.order") { $0 == "updatedAt desc" },
        puttingLast(.azureMobileApps, "tombstone.order") { $0 == "updatedAt,id" },
        asking(.datasync, "page.walk-deleted", "puts deleted rows behind the others where there is no $top") {
            request in
            guard request["__includedeleted"] != nil, request["$top"] == nil, request["$orderby"] == "id" else {
                return
            }
            request["$orderby"] = "deleted,id"
        },
        endingAtOr(.datasync, "tombstone.hidden", "ends its own condition at a bare or") { $0["$count"] == nil },
        endingAtOr(.datasync, "tombstone.count", "ends its own condition at a bare or when it counts") {
            $0["$count"] != nil
        },
        asking(.datasync, "tombstone.hidden", "shows deleted rows to who asks for them by a condition") { request in
            if request["$filter"]?.contains("deleted eq true") == true { request["__includedeleted"] = "true" }
        },
    ]

    /// A server that brings a row back as it was made.
    private static var firstContentMutant: ServerMutant {
        let texts = RememberedTexts()
        return ServerMutant(.azureMobileApps, "undelete.post", "brings rows back as they were before their updates") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "POST", var row = answer.json.object, let id = row["id"]?.string else {
                return answer
            }
            guard request.isRow else {
                texts[id] = row["text"]
                return answer
            }
            row["text"] = texts[id]
            try emulator.put(row)
            return answer.with { $0.json = .object(row) }
        }
    }

    /// A server that refuses what is done to a deleted row, and changes that row after it.
    private static func afterRefusal(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ method: String,
        _ status: Int,
        _ change: @escaping @Sendable (inout [String: JSONValue], JSONValue) -> Void
    ) -> ServerMutant {
        ServerMutant(serverProtocol, rule, fault) { request, emulator in
            let id = request.isRow ? request.id : request.json["id"]?.string ?? ""
            let answer = try await emulator.handle(request)
            guard request.method == method, answer.status == status, var row = emulator.row(id), row["deleted"] == true
            else { return answer }
            change(&row, request.json)
            try emulator.put(row)
            return answer
        }
    }

    /// A server that puts deleted rows behind the others in some orders.
    private static func puttingLast(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ isMeant: @escaping @Sendable (String?) -> Bool
    ) -> ServerMutant {
        asking(serverProtocol, rule, "puts deleted rows behind the others") { request in
            guard request.query.lowercased().contains("includedeleted"), let order = request["$orderby"], isMeant(order)
            else { return }
            request["$orderby"] = "deleted,\(order)"
        }
    }

    /// A server that puts its own condition in front of the client's and leaves out the parentheses.
    private static func endingAtOr(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ isMeant: @escaping @Sendable (EmulatorRequest) -> Bool
    ) -> ServerMutant {
        asking(serverProtocol, rule, fault) { request in
            guard request["__includedeleted"] == nil, let filter = request["$filter"], !filter.hasPrefix("("),
                filter.contains(" or "), isMeant(request)
            else { return }
            request["$filter"] = "deleted eq false and \(filter)"
            request["__includedeleted"] = "true"
        }
    }
}
