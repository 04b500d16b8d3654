import ConformanceRunner
import DatasyncEmulator
import Foundation
import ServerConformance
import Synchronization
import Testing

@Suite("What the kit does to a table, and what it says")
struct MannersTests {
    @Test("no empty id and none over 255 signs is sent unless that is asked for", arguments: ServerProtocol.allCases)
    func lastingRows(_ serverProtocol: ServerProtocol) async throws {
        let ids = Mutex<[String]>([])
        let answering: Answering = { request, emulator in
            if request.method == "POST", let id = request.json["id"]?.string { ids.withLock { $0.append(id) } }
            return try await emulator.handle(request)
        }
        try await JudgedServer.with(serverProtocol, by: .memory, answering: answering) { server in
            let rules = ["create.empty-id", "input.long-id", "input.longer-id"]
            let report = try await server.judge(rules, as: server.subject())
            #expect(report.notApplicable.map(\.rule.id) == ["create.empty-id", "input.longer-id"])
            #expect(report.notApplicable.allSatisfy { $0.description.contains("--lasting-rows tries it") })
            let sent = ids.withLock { $0 }
            #expect(!sent.isEmpty && sent.allSatisfy { !$0.isEmpty && $0.utf16.count <= 255 })
            #expect(try await server.judge(rules).count("passed") == 3)
        }
    }

    @Test("ids are not made upward, and the rows that are left are counted and named")
    func ids() async throws {
        let ids = Mutex<[String]>([])
        let answering: Answering = { request, emulator in
            if request.method == "POST", let id = request.json["id"]?.string { ids.withLock { $0.append(id) } }
            return try await emulator.handle(request)
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let report = try await server.judge(["order.ties-by-id"])
            let sent = ids.withLock { $0 }
            let rising = zip(sent, sent.dropFirst()).count { $0 < $1 }
            #expect(rising > sent.count / 5 && rising < sent.count * 4 / 5, "\(sent)")
            let tombstones = server.emulator.rows(in: JudgedServer.table).count
            let left = try #require(report["deleted rows left"])
            #expect(left.hasPrefix("\(tombstones),") && left.contains("'conform-"), "\(left), not \(tombstones)")
        }
    }

    @Test("a table that makes its own ids is told at once, and keeps no row")
    func ownIDs() async throws {
        let answering: Answering = { request, emulator in
            try await emulator.handle(
                request.with { request in
                    guard request.method == "POST", case .object(var item) = request.json else { return }
                    item["id"] = nil
                    request.json = .object(item)
                }
            )
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let error = await #expect(throws: ServerUnavailable.self) { _ = try await server.judge() }
            #expect(error?.description.contains("gives rows ids of its own") == true)
            #expect(server.liveRows.isEmpty && server.emulator.rows(in: JudgedServer.table).count == 1)
        }
    }

    @Test("a server that wants somebody signed in is told so; with the header it is judged", arguments: [401, 403])
    func signIn(_ status: Int) async throws {
        let answering: Answering = { request, emulator in
            guard request.headers["Authorization"] == "Bearer me" else {
                return .json(status, ["message": "who\u{1B}[2J are you?"])
            }
            return try await emulator.handle(request)
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let error = await #expect(throws: ServerUnavailable.self) { _ = try await server.judge() }
            let text = try #require(error?.description)
            #expect(text.contains("answers \(status)") && text.contains("signed in") && text.contains("--header"))
            #expect(text.contains("are you?") && !text.contains("\u{1B}"))
            let subject = server.subject(headers: [(name: "Authorization", value: "Bearer me")])
            #expect(try await server.judge(["create.with-id", "version.header"], as: subject).isPassed)
        }
    }

    @Test(
        "a server that answers everything with a page of HTML, or the other protocol's lists, is no server to judge",
        arguments: ServerProtocol.allCases
    )
    func noTable(_ serverProtocol: ServerProtocol) async throws {
        let other: JSONValue = serverProtocol == .datasync ? [] : ["items": [], "count": .null]
        let answers = [
            EmulatorResponse.html(200, "<html>\u{1B}[31mWelcome</html>"), .json(200, other), .json(200, "hello"),
        ]
        for answer in answers {
            let answering: Answering = { _, _ in answer }
            try await JudgedServer.with(serverProtocol, by: .memory, answering: answering) { server in
                let error = await #expect(throws: ServerUnavailable.self) { _ = try await server.judge() }
                let text = try #require(error?.description)
                #expect(text.contains("no list of rows") && text.contains("--protocol"), "\(text)")
                #expect(!text.contains("\u{1B}"))
            }
        }
    }

    @Test("a row that is refused shows the server's words and the row")
    func refusedRow() async throws {
        let answering: Answering = { request, emulator in
            guard request.method == "POST" else { return try await emulator.handle(request) }
            return .json(400, [["memberNames": ["Owner"], "errorMessage": "The Owner field is required."]])
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let error = await #expect(throws: ServerUnavailable.self) { _ = try await server.judge() }
            #expect(error?.description.contains("The Owner field is required.") == true)
            #expect(error?.description.contains("--column") == true)
        }
    }

    @Test("a column that is not there is wrong usage; one of another kind is told, and the usual names are tried")
    func columns() async throws {
        let answering: Answering = { request, emulator in
            try await emulator.handle(
                request.with { request in
                    guard ["POST", "PUT"].contains(request.method), case .object(var item) = request.json else {
                        return
                    }
                    item["nothing"] = nil
                    request.json = .object(item)
                }
            )
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let rules = ["create.with-id"]
            await #expect(throws: UsageError.self) {
                _ = try await server.judge(rules, as: server.subject(columns: [.text: "nothing"]))
            }
            let report = try await server.judge(rules, as: server.subject(columns: [.date: "text"]))
            #expect(report.isPassed && report.capabilities.contains("date"))
            #expect(report["columns"]?.contains("date=date") == true)
            #expect(report["column"]?.hasPrefix("'--column date=text' names a column of another kind") == true)
        }
    }

    @Test("a run in which no rule could be applied is no success")
    func nothingJudged() async throws {
        try await JudgedServer.with(.datasync, by: .memory) { server in
            let report = try await server.judge(["create.empty-id"], as: server.subject())
            #expect(report.judgesNothing && !report.isPassed)
            #expect(try report.text(.text).contains("NOTHING JUDGED: 0 passed, 1 not applicable"))
            #expect(try report.text(.markdown).contains("**Nothing judged**"))
        }
    }

    @Test("no report has control characters, and the text has no line over 80 columns, whatever a server sends")
    func nastyServer() async throws {
        let nasty =
            "\u{1B}[2J\u{1B}]0;title\u{7}\r\n\u{9B}31m\u{202E}gnirts\u{2028}" + String(repeating: "x", count: 500)
            + " " + String(repeating: "日本", count: 100) + String(repeating: "👩‍👩‍👧", count: 60)
        let answering: Answering = { request, emulator in
            let answer = try await emulator.handle(request)
            guard request.isRow || request.query.contains("orderby") else { return answer }
            return answer.with { answer in
                answer.body = Data(nasty.utf8)
                answer.headers["ETag"] = "\"" + String(repeating: "e", count: 300) + "\""
            }
        }
        try await JudgedServer.with(.datasync, by: .memory, answering: answering) { server in
            let report = try await server.judge(chapters: ["read", "replace", "order"])
            #expect(report.broken.count > 10)
            for format in ConformanceOptions.Format.allCases {
                let text = try report.text(format)
                let bad = text.unicodeScalars.filter { scalar in
                    scalar != "\n" && (scalar.value < 32 || (0x7F...0x9F).contains(scalar.value))
                        || ["\u{202E}", "\u{2028}"].contains(scalar)
                }
                #expect(bad.isEmpty || format == .json, "\(format): \(bad)")
            }
            for line in try report.text(.text).split(separator: "\n") {
                let columns = line.unicodeScalars.reduce(0) { $0 + ($1.value >= 0x2E80 && $1.value != 0xFE0F ? 2 : 1) }
                #expect(columns <= 80, "\(columns): \(line)")
            }
        }
    }
}

extension ConformanceReport {
    /// What was found out, by name.
    subscript(property: String) -> String? { properties.first { $0.name == property }?.text }
}
