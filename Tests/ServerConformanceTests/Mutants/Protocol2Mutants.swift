import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of protocol 2.
    static let all2: [ServerMutant] = [
        asking(.azureMobileApps, "version.absent-refused", "asks for no version") { request in
            if request.headers["ZUMO-API-VERSION"] == nil { request.headers["ZUMO-API-VERSION"] = "2.0.0" }
        },
        asking(.azureMobileApps, "version.other-refused", "takes any version") { request in
            request.headers["ZUMO-API-VERSION"] = "2.0.0"
        },
        ServerMutant(.azureMobileApps, "version.refused-does-nothing", "refuses the version after it has done the work")
        {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            guard answer.status == 400, request.headers["ZUMO-API-VERSION"] == nil else { return answer }
            _ = try await emulator.handle(request.with { $0.headers["ZUMO-API-VERSION"] = "2.0.0" })
            return answer
        },
        answering(.azureMobileApps, "version.in-query", "knows the version's header only") { request, answer in
            if request.headers["ZUMO-API-VERSION"] == nil { answer = EmulatorResponse(400) }
        },
        answering(.azureMobileApps, "create.absent-is-null", "leaves nulls out") { _, answer in
            answer = answer.withRows { row in row = row.filter { $0.value != .null } }
        },
        answering(.azureMobileApps, "create.whole-row", "answers an insert with another creation than it stores") {
            request,
            answer in
            guard request.method == "POST", answer.status == 201 else { return }
            answer = answer.withRows { $0["createdAt"] = "2021-02-03T04:05:06.789Z" }
        },
        answering(.azureMobileApps, "patch.whole-row", "leaves a column out of the answer to an update") {
            request,
            answer in
            guard request.method == "PATCH", answer.status == 200 else { return }
            answer = answer.withRows { $0["date"] = nil }
        },
        asking(.azureMobileApps, "create.reserved", "takes no notice of updatedAt in an insert") { request in
            guard request.method == "POST", case .object(var item) = request.json else { return }
            item["updatedAt"] = nil
            request.json = .object(item)
        },
        answering(.azureMobileApps, "create.system-columns", "sends no createdAt") { _, answer in
            answer = answer.withRows { $0["createdAt"] = nil }
        },
        ServerMutant(.azureMobileApps, "patch.merges", "clears what a PATCH leaves out") { request, emulator in
            guard request.method == "PATCH", case .object(let item) = request.json else {
                return try await emulator.handle(request)
            }
            let cleared: [String: JSONValue] = ["text": nil, "complete": nil, "number": nil]
            return try await emulator.handle(request.with { $0.json = .object(cleared.merging(item) { $1 }) })
        },
        asking(.azureMobileApps, "patch.null-clears", "takes null for absent") { request in
            guard request.method == "PATCH", case .object(let item) = request.json else { return }
            request.json = .object(item.filter { $0.value != .null }.merging(["complete": true]) { first, _ in first })
        },
        asking(.azureMobileApps, "patch.reserved", "takes no notice of deleted in a PATCH") { request in
            guard request.method == "PATCH", case .object(var item) = request.json else { return }
            item["deleted"] = nil
            request.json = .object(item)
        },
        asking(.azureMobileApps, "patch.body-version", "does not look at the version in the body") { request in
            guard request.method == "PATCH", case .object(var item) = request.json else { return }
            item["version"] = nil
            request.json = .object(item)
        },
        asking(.azureMobileApps, "patch.header-counts", "looks at the body's version and not at If-Match") { request in
            if request.json["version"] != nil { request.headers["If-Match"] = nil }
        },
        ServerMutant(.azureMobileApps, "patch.created-at", "moves createdAt at every update") { request, emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "PATCH", answer.status == 200, var row = answer.json.object else { return answer }
            row["createdAt"] = row["updatedAt"]
            try emulator.put(row)
            return answer.with { $0.json = .object(row) }
        },
        ServerMutant(.azureMobileApps, "patch.tombstone", "brings a deleted row back when it is updated") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            if request.method == "PATCH", answer.status == 200, var row = answer.json.object {
                row["deleted"] = false
                try emulator.put(row)
            }
            return answer
        },
        ServerMutant(.azureMobileApps, "patch.unknown", "makes the row when there is none to update") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "PATCH", answer.status == 404, let item = request.json.object else { return answer }
            try emulator.put(item.merging(["id": .string(request.id)]) { $1 })
            return answer
        },
        asking(.azureMobileApps, "patch.other-id", "goes by the path and not by the body's id") { request in
            guard request.method == "PATCH", case .object(var item) = request.json else { return }
            item["id"] = nil
            request.json = .object(item)
        },
        asking(.azureMobileApps, "conditional.update-stale", "does not look at If-Match") { request in
            request.headers["If-Match"] = nil
        },
        answering(.azureMobileApps, "conditional.update-stale-row", "sends the request's own item with a 412") {
            request,
            answer in
            if answer.status == 412, !request.body.isEmpty { answer.json = request.json }
        },
        answering(.azureMobileApps, "delete.row-in-answer", "sends the row as it was before the deletion") {
            request,
            answer in
            if request.method == "DELETE" { answer = answer.withRows { $0["deleted"] = false } }
        },
        answering(.azureMobileApps, "delete.again", "answers 200 to the second deletion") { request, answer in
            if request.method == "DELETE", answer.status == 409 { answer.status = 200 }
        },
        answering(.azureMobileApps, "undelete.post", "cannot bring rows back") { request, answer in
            if request.method == "POST", request.isRow { answer = EmulatorResponse(404) }
        },
        answering(.azureMobileApps, "page.array", "gives objects for arrays") { request, answer in
            if case .array(let rows) = answer.json { answer.json = ["results": .array(rows), "count": nil] }
        },
        answering(.azureMobileApps, "order.count", "counts the rows of the page") { _, answer in
            guard case .object(var page) = answer.json, let rows = page["results"]?.array else { return }
            page["count"] = .integer(Int64(rows.count))
            answer.json = .object(page)
        },
        answering(.azureMobileApps, "page.walk", "sends no Link") { _, answer in answer.headers["Link"] = nil },
        answering(.azureMobileApps, "page.walk", "repeats a row between pages") { _, answer in
            answer.headers["Link"] = answer.headers["Link"]?
                .replacingOccurrences(of: "%24skip=50", with: "%24skip=49")
        },
        answering(.azureMobileApps, "page.walk-deleted", "forgets __includeDeleted on the second page") { _, answer in
            answer.headers["Link"] = answer.headers["Link"]?
                .replacingOccurrences(of: "__includeDeleted", with: "ignored")
        },
        filtering(.azureMobileApps, "date.datetimeoffset", "takes no notice of offsets in literals", "+02:00", "Z"),
        filtering(.azureMobileApps, "date.filter", "takes ge for gt", "updatedAt ge", "updatedAt gt"),
        filtering(.azureMobileApps, "query.arithmetic", "takes mul for add", " mul ", " add "),
        filtering(
            .azureMobileApps,
            "query.changed-row",
            "finds a changed row by the text it had",
            "eq 'changed and listed'",
            "eq 'a text'"
        ),
        filtering(.azureMobileApps, "function.replace", "replaces nothing", "'bb'", "'pp'"),
        asking(.azureMobileApps, "tombstone.hidden", "shows deleted rows in lists") { request in
            if request.method == "GET", !request.isRow { request["__includeDeleted"] = "true" }
        },
        answering(.azureMobileApps, "read.tombstone", "reads deleted rows by id") { request, answer in
            if request.method == "GET", request.isRow, answer.status == 404 {
                answer = .json(200, ["id": .string(request.id)])
            }
        },
        ServerMutant(.azureMobileApps, "concurrency.equal-updates", "compares versions, then stores, without a lock") {
            request,
            emulator in
            guard request.method == "PATCH", let tag = request.headers["If-Match"], let row = emulator.row(request.id),
                tag == "\"\(row["version"]?.string ?? "")\""
            else { return try await emulator.handle(request) }
            try await Task.sleep(for: ServerMutant.window)
            return try await emulator.handle(request.with { $0.headers["If-Match"] = nil })
        },
        ServerMutant(.azureMobileApps, "concurrency.inserts", "loses one of many inserts at the same time") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "POST", let id = answer.json["id"]?.string, id.hasSuffix("7") else { return answer }
            _ = try await emulator.handle(
                EmulatorRequest("DELETE", request.path + "/" + id, headers: request.headers)
            )
            return answer
        },
        answering(.azureMobileApps, "input.broken-json", "answers 201 to what is not JSON") { _, answer in
            if answer.status == 400 { answer.status = 201 }
        },
    ]
}
