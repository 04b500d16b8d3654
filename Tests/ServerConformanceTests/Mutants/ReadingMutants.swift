import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of protocol 3 in reading single rows and deleted ones.
    static let reading3: [ServerMutant] = [
        answering(.datasync, "read.etag", "sends weak ETags") { _, answer in
            answer.headers["ETag"] = answer.headers["ETag"].map { "W/" + $0 }
        },
        answering(.datasync, "read.unknown", "answers 200 with null for what is not there") { request, answer in
            if request.method == "GET", request.isRow, answer.status == 404 { answer = .json(200, .null) }
        },
        answering(.datasync, "read.by-id", "leaves a column out of single rows") { request, answer in
            if request.method == "GET", request.isRow { answer = answer.withRows { $0["text"] = nil } }
        },
        asking(.datasync, "read.if-none-match", "does not look at If-None-Match") { request in
            request.headers["If-None-Match"] = nil
        },
        answering(.datasync, "read.if-none-match-other", "answers 304 to any If-None-Match") { request, answer in
            if request.method == "GET", request.headers["If-None-Match"] != nil { answer = EmulatorResponse(304) }
        },
        asking(.datasync, "read.if-match-other", "does not look at If-Match in reading") { request in
            if request.method == "GET" { request.headers["If-Match"] = nil }
        },
        asking(.datasync, "read.tombstone", "reads deleted rows by id") { request in
            if request.method == "GET", request.isRow { request["__includedeleted"] = "true" }
        },
        asking(.datasync, "read.tombstone-parameter", "takes any value of __includedeleted") { request in
            if request.method == "GET", request["__includedeleted"] != nil { request["__includedeleted"] = "true" }
        },
        answering(.datasync, "read.trailing-slash", "knows no path with a slash at its end") { request, answer in
            if request.path.hasSuffix("/") { answer = EmulatorResponse(404) }
        },
        asking(.datasync, "tombstone.hidden", "shows deleted rows in lists") { request in
            if request.method == "GET", !request.isRow { request["__includedeleted"] = "true" }
        },
        asking(.datasync, "tombstone.parameter", "knows one spelling of __includedeleted") { request in
            let isOther = request.query.contains("__") && request["__includedeleted"] == nil
            if isOther { request.query = request.query.replacingOccurrences(of: "__", with: "ignored") }
        },
        answering(.datasync, "tombstone.shown", "shows deleted rows as live ones") { request, answer in
            if !request.isRow { answer = answer.withRows { $0["deleted"] = false } }
        },
        ServerMutant(.datasync, "tombstone.count", "counts deleted rows without being asked to") { request, emulator in
            let answer = try await emulator.handle(request)
            guard request["$count"] != nil, case .object(var page) = answer.json else { return answer }
            let all = try await emulator.handle(request.with { $0["__includedeleted"] = "true" })
            page["count"] = all.json["count"]
            return answer.with { $0.json = .object(page) }
        },
        ServerMutant(.datasync, "tombstone.paged", "cuts pages out before it leaves deleted rows away") {
            request,
            emulator in
            guard request.method == "GET", !request.isRow, request["__includedeleted"] == nil else {
                return try await emulator.handle(request)
            }
            let answer = try await emulator.handle(request.with { $0["__includedeleted"] = "true" })
            guard case .object(var page) = answer.json else { return answer }
            page["items"] = .array((page["items"]?.array ?? []).filter { $0["deleted"] != true })
            return answer.with { $0.json = .object(page) }
        },
        answering(.datasync, "delete.unknown", "looks at If-Match before it looks for the row") { request, answer in
            let isConditional = request.method == "DELETE" && request.headers["If-Match"] != nil
            if isConditional, answer.status == 404 { answer = EmulatorResponse(412) }
        },
        answering(.datasync, "delete.again", "looks at If-Match before it looks whether the row is deleted") {
            request,
            answer in
            let isConditional = request.method == "DELETE" && request.headers["If-Match"] != nil
            if isConditional, answer.status == 410 { answer = EmulatorResponse(412) }
        },
        ServerMutant(.datasync, "create.client-stamps", "keeps the version it was sent, and answers another") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            if request.method == "POST", answer.status == 201, let version = request.json["version"],
                var row = emulator.row(answer.json["id"]?.string ?? "")
            {
                row["version"] = version
                try emulator.put(row)
            }
            return answer
        },
        ServerMutant(.datasync, "tombstone.pulled", "keeps updatedAt when it deletes") { request, emulator in
            let old = emulator.row(request.id)
            let answer = try await emulator.handle(request)
            if request.method == "DELETE", answer.status == 204, let old, var row = emulator.row(request.id) {
                row["updatedAt"] = old["updatedAt"]
                try emulator.put(row)
            }
            return answer
        },
        answering(.datasync, "date.form", "sends seven digits of a second") { _, answer in
            answer = answer.withRows { row in
                guard let stamp = row["updatedAt"]?.string else { return }
                row["updatedAt"] = .string(stamp.dropLast() + "0000Z")
            }
        },
        answering(.datasync, "date.milliseconds", "sends stamps in whole seconds") { _, answer in
            answer = answer.withRows { row in
                guard let stamp = row["updatedAt"]?.string else { return }
                row["updatedAt"] = .string(stamp.dropLast(4) + "000Z")
            }
        },
        answering(.datasync, "date.kept", "loses the milliseconds of instants before 1970") { _, answer in
            answer = answer.withRows { row in
                guard let text = row["date"]?.string, text < "1970" else { return }
                row["date"] = .string(text.dropLast(4) + "000Z")
            }
        },
        asking(.datasync, "date.cut", "rounds instants to milliseconds") { request in
            guard case .object(var item) = request.json, let text = item["date"]?.string else { return }
            item["date"] = .string(text.replacingOccurrences(of: ".0049", with: ".005"))
            request.json = .object(item)
        },
        asking(.datasync, "date.to-utc", "takes an offset of -05:30 for +05:30") { request in
            guard case .object(var item) = request.json, let text = item["date"]?.string else { return }
            item["date"] = .string(text.replacingOccurrences(of: "-05:30", with: "+05:30"))
            request.json = .object(item)
        },
        filtering(.datasync, "date.cast", "takes no notice of offsets in literals", "+02:00", "Z"),
        filtering(.datasync, "date.bare", "takes no notice of offsets in bare literals", "-05:30", "Z"),
        asking(.datasync, "date.column-filter", "compares instants by the second") { request in
            guard let filter = request["$filter"], filter.contains("23:59:59.999Z") else { return }
            request["$filter"] = filter.replacingOccurrences(of: "23:59:59.999Z", with: "23:59:59Z")
        },
        asking(.datasync, "date.filter", "takes the instant of a literal for a minute later") { request in
            guard let filter = request["$filter"], filter.contains("updatedAt lt") else { return }
            request["$filter"] = filter.replacingOccurrences(of: "cast(20", with: "cast(19")
        },
    ]
}
