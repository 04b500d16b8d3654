import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of what becomes of a row's content, and of what is deleted.
    static let content: [ServerMutant] = [
        asking(.datasync, "undelete.stays-deleted", "brings a row back whatever the body says of it") { request in
            guard request.method == "PUT", request["__includedeleted"] != nil, case .object(var item) = request.json
            else { return }
            item["deleted"] = false
            request.json = .object(item)
        },
        ServerMutant(.datasync, "undelete.stays-deleted", "writes a deleted row under its old version") {
            request,
            emulator in
            let old = emulator.row(request.id)
            let answer = try await emulator.handle(request)
            guard request.method == "PUT", answer.status == 200, old?["deleted"] == true,
                var row = answer.json.object, row["deleted"] == true
            else { return answer }
            row["version"] = old?["version"]
            try emulator.put(row)
            return answer.with { $0.json = .object(row) }
        },
        ServerMutant(.datasync, "undelete.stays-deleted", "leaves the content of a deleted row as it was") {
            request,
            emulator in
            guard request.method == "PUT", let old = emulator.row(request.id), old["deleted"] == true,
                request.json["deleted"] == true
            else { return try await emulator.handle(request) }
            return try await emulator.handle(request.with { $0.json = .object(old) })
        },
        ServerMutant(.datasync, "undelete.content", "brings a row back as it was") { request, emulator in
            guard request.method == "PUT", let old = emulator.row(request.id), old["deleted"] == true else {
                return try await emulator.handle(request)
            }
            let row = old.merging(["deleted": request.json["deleted"] ?? false]) { $1 }
            return try await emulator.handle(request.with { $0.json = .object(row) })
        },
        ServerMutant(.datasync, "undelete.content", "merges into a row that it brings back") { request, emulator in
            guard request.method == "PUT", let old = emulator.row(request.id), old["deleted"] == true,
                let item = request.json.object
            else { return try await emulator.handle(request) }
            return try await emulator.handle(request.with { $0.json = .object(old.merging(item) { $1 }) })
        },
        ServerMutant(.datasync, "concurrency.equal-restores", "compares versions, then brings back, without a lock") {
            request,
            emulator in
            guard request.method == "PUT", let tag = request.headers["If-Match"], let row = emulator.row(request.id),
                row["deleted"] == true, tag == "\"\(row["version"]?.string ?? "")\""
            else { return try await emulator.handle(request) }
            try await Task.sleep(for: ServerMutant.window)
            return try await emulator.handle(request.with { $0.headers["If-Match"] = nil })
        },
        ServerMutant(.azureMobileApps, "concurrency.equal-restores", "compares versions, then brings back, unlocked") {
            request,
            emulator in
            guard request.method == "POST", request.isRow, let tag = request.headers["If-Match"],
                let row = emulator.row(request.id), tag == "\"\(row["version"]?.string ?? "")\""
            else { return try await emulator.handle(request) }
            try await Task.sleep(for: ServerMutant.window)
            return try await emulator.handle(request.with { $0.headers["If-Match"] = nil })
        },
        writingOthers(.datasync, "replace.only-one", "replaces what begins with the same id"),
        writingOthers(.azureMobileApps, "patch.only-one", "updates what begins with the same id"),
        ServerMutant(.datasync, "replace.null-clears", "takes null for what was there") { request, emulator in
            guard request.method == "PUT", let old = emulator.row(request.id), let item = request.json.object else {
                return try await emulator.handle(request)
            }
            let kept = item.merging(old.filter { item[$0.key] == .null }) { $1 }
            return try await emulator.handle(request.with { $0.json = .object(kept) })
        },
        ServerMutant(.datasync, "replace.null-clears", "refuses a null after it has stored the default") {
            request,
            emulator in
            guard request.method == "PUT", let item = request.json.object, item["number"] == .null,
                [.integer(7), .double(7)].contains(emulator.row(request.id)?["number"])
            else { return try await emulator.handle(request) }
            _ = try await emulator.handle(request.with { $0.json = .object(item.merging(["number": 0]) { $1 }) })
            return EmulatorResponse(500)
        },
        keepingLeftOut("text"), keepingLeftOut("number"), keepingLeftOut("date"),
        cuttingTexts(at: 2_000), cuttingTexts(at: 4_000), cuttingTexts(at: 65_535),
        numbering("keeps numbers of 32 bits") { Double(Float($0)) },
        numbering("stops at the largest whole number of 32 bits") { min($0, 2_147_483_647) },
        numbering("keeps four digits behind the point") { ($0 * 10_000).rounded() / 10_000 },
    ]

    /// A server that writes to every row whose id begins with that of the one that is meant.
    private static func writingOthers(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String
    ) -> ServerMutant {
        ServerMutant(serverProtocol, rule, fault) { request, emulator in
            let answer = try await emulator.handle(request)
            guard ["PUT", "PATCH"].contains(request.method), answer.status == 200, let text = answer.json["text"] else {
                return answer
            }
            for row in emulator.rows(in: JudgedServer.table) where row["id"] != .string(request.id) {
                guard row["id"]?.string?.hasPrefix(request.id) == true else { continue }
                try emulator.put(row.merging(["text": text]) { $1 })
            }
            return answer
        }
    }

    /// A server that cuts texts when rows are made.
    private static func cuttingTexts(at count: Int) -> ServerMutant {
        asking(.datasync, "create.long-text", "cuts texts at \(count) characters") { request in
            guard request.method == "POST", case .object(var item) = request.json, let text = item["text"]?.string
            else {
                return
            }
            item["text"] = .string(String(text.prefix(count)))
            request.json = .object(item)
        }
    }

    /// A server that keeps a column that a replacement leaves out.
    private static func keepingLeftOut(_ column: String) -> ServerMutant {
        ServerMutant(.datasync, "replace.left-out", "keeps the \(column) that a replacement leaves out") {
            request,
            emulator in
            guard request.method == "PUT", let old = emulator.row(request.id), var item = request.json.object,
                item[column] == nil
            else { return try await emulator.handle(request) }
            item[column] = old[column]
            return try await emulator.handle(request.with { [item] in $0.json = .object(item) })
        }
    }

    /// A server that makes other numbers of those that come.
    private static func numbering(_ fault: String, _ change: @escaping @Sendable (Double) -> Double) -> ServerMutant {
        asking(.datasync, "create.wide-number", fault) { request in
            guard request.method == "POST", case .object(var item) = request.json else { return }
            switch item["number"] {
            case .integer(let number)?: item["number"] = .double(change(Double(number)))
            case .double(let number)?: item["number"] = .double(change(number))
            default: return
            }
            request.json = .object(item)
        }
    }
}
