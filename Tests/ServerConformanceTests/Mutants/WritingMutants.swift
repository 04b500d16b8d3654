import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of protocol 3 in writing.
    static let writing3: [ServerMutant] = [
        answering(.datasync, "create.with-id", "answers 200 to an insert") { request, answer in
            if request.method == "POST", answer.status == 201 { answer.status = 200 }
        },
        asking(.datasync, "create.without-id", "gives every row without an id the same one") { request in
            guard request.method == "POST", case .object(var item) = request.json, item["id"] == nil else { return }
            item["id"] = .string("conform-the-only-id")
            request.json = .object(item)
        },
        answering(.datasync, "create.location", "sends no Location") { _, answer in answer.headers["Location"] = nil },
        answering(.datasync, "create.etag", "leaves the quotes of the ETag out") { _, answer in
            answer.headers["ETag"] = answer.headers["ETag"]?.filter { $0 != "\"" }
        },
        answering(.datasync, "create.last-modified", "rounds Last-Modified up") { _, answer in
            if answer.headers["Last-Modified"] != nil {
                answer.headers["Last-Modified"] = "Thu, 01 Jan 2099 00:00:00 GMT"
            }
        },
        answering(.datasync, "create.system-columns", "leaves 'deleted' out when it is false") { _, answer in
            answer = answer.withRows { if $0["deleted"] == false { $0["deleted"] = nil } }
        },
        answering(.datasync, "create.whole-row", "answers an insert with another stamp than it stores") {
            request,
            answer in
            guard request.method == "POST", answer.status == 201 else { return }
            answer = answer.withRows { $0["updatedAt"] = "2021-02-03T04:05:06.789Z" }
        },
        answering(.datasync, "create.whole-row", "leaves a column out of the answer to an insert") { request, answer in
            guard request.method == "POST", answer.status == 201 else { return }
            answer = answer.withRows { $0["date"] = nil }
        },
        answering(.datasync, "replace.stored", "answers a replacement with another stamp than it stores") {
            request,
            answer in
            guard request.method == "PUT", answer.status == 200 else { return }
            answer = answer.withRows { $0["updatedAt"] = "2021-02-03T04:05:06.789Z" }
        },
        asking(.datasync, "create.client-deleted", "takes no notice of deleted:true in an insert") { request in
            guard request.method == "POST", case .object(var item) = request.json else { return }
            item["deleted"] = nil
            request.json = .object(item)
        },
        ServerMutant(.datasync, "create.client-stamps", "stores the client's version") { request, emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "POST", let version = request.json["version"], var row = answer.json.object else {
                return answer
            }
            row["version"] = version
            try emulator.put(row)
            return answer.with { $0.json = .object(row) }
        },
        asking(.datasync, "create.text", "takes spaces off the ends of texts") { request in
            request.changeText { $0.trimmingCharacters(in: .whitespaces) }
        },
        asking(.datasync, "create.text", "stores line ends in one form") { request in
            request.changeText { $0.replacingOccurrences(of: "\r\n", with: "\n") }
        },
        asking(.datasync, "create.id-case", "stores ids in lower case") { request in
            guard request.method == "POST", case .object(var item) = request.json, let id = item["id"]?.string else {
                return
            }
            item["id"] = .string(id.lowercased())
            request.json = .object(item)
        },
        asking(.datasync, "create.text", "normalises texts") { request in
            request.changeText { $0.precomposedStringWithCanonicalMapping }
        },
        answering(.datasync, "create.number", "sends whole numbers as texts") { _, answer in
            answer = answer.withRows { if let number = $0["number"]?.integer { $0["number"] = .string("\(number)") } }
        },
        asking(.datasync, "create.fraction", "keeps a number of hundredths and no tenth") { request in
            guard case .object(var item) = request.json, item["number"] == 0.1 else { return }
            item["number"] = 0
            request.json = .object(item)
        },
        leftOutMutant,
        asking(.datasync, "create.names-in-any-case", "knows the names of members in small letters only") { request in
            guard case .object(let item) = request.json else { return }
            request.json = .object(item.filter { $0.key == "ID" || $0.key.first?.isUppercase == false })
        },
        asking(.datasync, "input.long-id", "cuts ids at 200 signs") { request in request.cutID(at: 200) },
        asking(.datasync, "input.longer-id", "cuts ids at 255 signs") { request in request.cutID(at: 255) },
        answering(.datasync, "create.boolean", "sends false as 0") { _, answer in
            answer = answer.withRows { if $0["complete"] == false { $0["complete"] = 0 } }
        },
        ServerMutant(.datasync, "conflict.existing-id", "replaces the row when its id is created again") {
            request,
            emulator in
            guard request.method == "POST", let id = request.json["id"]?.string, emulator.row(id) != nil else {
                return try await emulator.handle(request)
            }
            return
                try await emulator.handle(
                    request.with {
                        $0.method = "PUT"
                        $0.path += "/" + id
                    }
                )
                .with { $0.status = 201 }
        },
        ServerMutant(.datasync, "conflict.keeps-row", "answers 409 and stores the new row all the same") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "POST", answer.status == 409, let item = request.json.object else { return answer }
            try emulator.put(item)
            return answer
        },
        answering(.datasync, "conflict.server-row", "sends the request's own item with a 409") { request, answer in
            if request.method == "POST", answer.status == 409 { answer.json = request.json }
        },
        ServerMutant(.datasync, "conflict.tombstone", "lets the id of a deleted row be used again") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "POST", answer.status == 409, answer.json["deleted"] == true,
                let item = request.json.object, let id = item["id"]
            else { return answer }
            try emulator.put(item.merging(["id": id, "deleted": false]) { $1 })
            return answer.with { $0.status = 201 }
        },
        ServerMutant(.datasync, "replace.whole", "merges instead of replacing") { request, emulator in
            guard request.method == "PUT", let old = emulator.row(request.id), let item = request.json.object else {
                return try await emulator.handle(request)
            }
            return try await emulator.handle(request.with { $0.json = .object(old.merging(item) { $1 }) })
        },
        ServerMutant(.datasync, "replace.unknown", "makes the row when there is none to replace") { request, emulator in
            guard request.method == "PUT", emulator.row(request.id) == nil else {
                return try await emulator.handle(request)
            }
            return try await emulator.handle(
                request.with {
                    $0.method = "POST"
                    $0.path = "/tables/" + JudgedServer.table
                }
            )
        },
        asking(.datasync, "replace.other-id", "goes by the path and not by the body's id") { request in
            guard request.method == "PUT", case .object(var item) = request.json, item["id"] != nil else { return }
            item["id"] = .string(request.id)
            request.json = .object(item)
        },
        ServerMutant(.datasync, "replace.version", "keeps the version") { request, emulator in
            let version = emulator.row(request.id)?["version"]
            let answer = try await emulator.handle(request)
            guard request.method == "PUT", answer.status == 200, var row = answer.json.object, let version else {
                return answer
            }
            row["version"] = version
            try emulator.put(row)
            return answer.with {
                $0.json = .object(row)
                $0.headers["ETag"] = "\"\(version.string ?? "")\""
            }
        },
        ServerMutant(.datasync, "replace.updated-at", "keeps updatedAt") { request, emulator in
            let stamp = emulator.row(request.id)?["updatedAt"]
            let answer = try await emulator.handle(request)
            guard request.method == "PUT", answer.status == 200, var row = answer.json.object, let stamp else {
                return answer
            }
            row["updatedAt"] = stamp
            try emulator.put(row)
            return answer.with { $0.json = .object(row) }
        },
        asking(.datasync, "replace.marks-deleted", "takes no notice of deleted:true in a replacement") { request in
            guard request.method == "PUT", case .object(var item) = request.json else { return }
            item["deleted"] = nil
            request.json = .object(item)
        },
        asking(.datasync, "replace.tombstone", "replaces deleted rows without being asked to") { request in
            if request.method == "PUT" { request["__includedeleted"] = "true" }
        },
        asking(.datasync, "conditional.update-stale", "does not look at If-Match in replacements") { request in
            if request.method == "PUT" { request.headers["If-Match"] = nil }
        },
        ServerMutant(.datasync, "conditional.update-stale", "answers 412 and stores all the same") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            if request.method == "PUT", answer.status == 412 {
                _ = try await emulator.handle(request.with { $0.headers["If-Match"] = nil })
            }
            return answer
        },
        ServerMutant(.datasync, "conditional.update-stale", "compares versions without regard to case") {
            request,
            emulator in
            guard let tag = request.headers["If-Match"], let version = emulator.row(request.id)?["version"]?.string,
                tag.lowercased() == "\"\(version.lowercased())\""
            else { return try await emulator.handle(request) }
            return try await emulator.handle(request.with { $0.headers["If-Match"] = "\"\(version)\"" })
        },
        answering(.datasync, "conditional.update-stale-row", "sends no row with a 412") { _, answer in
            if answer.status == 412 { answer.body = Data() }
        },
        asking(.datasync, "conditional.update-weak", "takes weak versions for strong ones") { request in
            if let tag = request.headers["If-Match"], tag.hasPrefix("W/") {
                request.headers["If-Match"] = String(tag.dropFirst(2))
            }
        },
        asking(.datasync, "conditional.update-any", "takes * for a version") { request in
            if request.headers["If-Match"] == "*" { request.headers["If-Match"] = "\"*\"" }
        },
        asking(.datasync, "conditional.update-empty", "takes an empty version for none") { request in
            if request.headers["If-Match"] == "\"\"" { request.headers["If-Match"] = nil }
        },
        contentVersionMutant,
        answering(.datasync, "conditional.update-without", "asks for If-Match") { request, answer in
            if request.method == "PUT", request.headers["If-Match"] == nil { answer = EmulatorResponse(428) }
        },
        asking(.datasync, "conditional.delete-stale", "does not look at If-Match in deletions") { request in
            if request.method == "DELETE" { request.headers["If-Match"] = nil }
        },
        asking(.datasync, "conditional.delete-none-match", "does not look at If-None-Match in deletions") { request in
            if request.method == "DELETE" { request.headers["If-None-Match"] = nil }
        },
        ServerMutant(.datasync, "delete.new-version", "deletes without moving version and updatedAt on") {
            request,
            emulator in
            let old = emulator.row(request.id)
            let answer = try await emulator.handle(request)
            if request.method == "DELETE", answer.status == 204, var old {
                old["deleted"] = true
                try emulator.put(old)
            }
            return answer
        },
        ServerMutant(.datasync, "delete.keeps-row", "empties rows when they are deleted") { request, emulator in
            let answer = try await emulator.handle(request)
            if request.method == "DELETE", answer.status == 204, let row = emulator.row(request.id) {
                try emulator.put(row.filter { $0.key != "text" && $0.key != "number" })
            }
            return answer
        },
        answering(.datasync, "delete.again", "answers 204 to the second deletion") { request, answer in
            if request.method == "DELETE", answer.status == 410 { answer.status = 204 }
        },
        answering(.datasync, "delete.unknown", "answers 204 to the deletion of what is not there") { request, answer in
            if request.method == "DELETE", answer.status == 404 { answer.status = 204 }
        },
        ServerMutant(.datasync, "delete.only-one", "deletes what begins with the same id") { request, emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "DELETE", answer.status == 204 else { return answer }
            for row in emulator.rows(in: JudgedServer.table) where row["deleted"] == false {
                if row["id"]?.string?.dropLast() == request.id.dropLast() {
                    try emulator.put(row.merging(["deleted": true]) { $1 })
                }
            }
            return answer
        },
        asking(.datasync, "undelete.put", "brings no row back") { request in
            guard request.method == "PUT", request["__includedeleted"] != nil, case .object(var item) = request.json
            else {
                return
            }
            item["deleted"] = true
            request.json = .object(item)
        },
        asking(.datasync, "undelete.if-match", "does not look at If-Match when it brings a row back") { request in
            if request.method == "PUT", request["__includedeleted"] != nil { request.headers["If-Match"] = nil }
        },
        asking(.datasync, "input.content-type", "takes JSON under any name") { request in
            if !request.body.isEmpty { request.headers["Content-Type"] = "application/json" }
        },
        ServerMutant(.datasync, "input.broken-json", "makes an empty row of a broken body") { request, emulator in
            guard request.method == "POST", request.json == .null else { return try await emulator.handle(request) }
            return try await emulator.handle(request.with { $0.json = [:] })
        },
        ServerMutant(.datasync, "input.wrong-type", "refuses a row for its type and stores it") { request, emulator in
            let answer = try await emulator.handle(request)
            guard request.method == "POST", request.json["complete"]?.string != nil, let id = request.json["id"] else {
                return answer
            }
            try emulator.put(["id": id])
            return EmulatorResponse(400)
        },
        ServerMutant(.datasync, "input.long-id", "cuts ids to 128 characters") { request, emulator in
            try await emulator.handle(
                request.with { request in
                    guard request.method == "POST", case .object(var item) = request.json, let id = item["id"]?.string
                    else {
                        return
                    }
                    item["id"] = .string(String(id.prefix(128)))
                    request.json = .object(item)
                }
            )
        },
        ServerMutant(.datasync, "concurrency.equal-inserts", "looks for the id, then stores, without a lock") {
            request,
            emulator in
            guard request.method == "POST", let id = request.json["id"]?.string, emulator.row(id) == nil else {
                return try await emulator.handle(request)
            }
            try await Task.sleep(for: ServerMutant.window)
            let exists = emulator.row(id) != nil
            return
                try await emulator.handle(
                    request.with {
                        guard exists else { return }
                        $0.method = "PUT"
                        $0.path += "/" + id
                    }
                )
                .with { $0.status = 201 }
        },
        ServerMutant(.datasync, "concurrency.equal-updates", "compares versions, then stores, without a lock") {
            request,
            emulator in
            guard request.method == "PUT", let tag = request.headers["If-Match"], let row = emulator.row(request.id),
                tag == "\"\(row["version"]?.string ?? "")\""
            else { return try await emulator.handle(request) }
            try await Task.sleep(for: ServerMutant.window)
            return try await emulator.handle(request.with { $0.headers["If-Match"] = nil })
        },
    ]
}

extension EmulatorRequest {
    fileprivate mutating func changeText(_ change: (String) -> String) {
        guard method == "POST", case .object(var item) = json, let text = item["text"]?.string else { return }
        item["text"] = .string(change(text))
        json = .object(item)
    }
}

extension ServerMutant {
    /// A server whose versions are hashes of what a row holds.
    private static var contentVersionMutant: ServerMutant {
        let texts = RememberedTexts()
        return ServerMutant(
            .datasync,
            "conditional.versions-differ",
            "takes a version for current when the row holds what it did then"
        ) { request, emulator in
            let current = emulator.row(request.id)?["text"]
            let isOfContent =
                request.headers["If-Match"].flatMap { texts[request.id + $0] }.map { $0 == current } ?? false
            let answer = try await emulator.handle(
                request.with { if $0.method == "PUT", isOfContent { $0.headers["If-Match"] = nil } }
            )
            if let id = answer.json["id"]?.string, let version = answer.json["version"]?.string {
                texts[id + "\"\(version)\""] = answer.json["text"]
            }
            return answer
        }
    }

    /// A server that shows the default of what was left out and stores null.
    private static var leftOutMutant: ServerMutant {
        let rows = RememberedRows()
        return ServerMutant(.datasync, "create.left-out", "does not find what was left out by the default it shows") {
            request,
            emulator in
            let answer = try await emulator.handle(request)
            if request.method == "POST", request.json["complete"] == nil, let id = answer.json["id"]?.string {
                rows.insert(id)
            }
            guard request["$filter"]?.contains("complete eq") == true else { return answer }
            return answer.withoutRows { rows.contains($0) }
        }
    }
}
