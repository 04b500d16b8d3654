import Foundation
import Testing

@testable import DatasyncEmulator

@Suite("The server of attachments", .timeLimit(.minutes(5)))
struct AttachmentServerTests {
    private struct Service {
        let server: EmulatorServer
        let url: URL
        let folder: URL

        func send(_ head: String, _ body: String = "") async throws -> String {
            let client = try RawClient(url)
            try await client.send("\(head)\r\nHost: a\r\nConnection: close\r\n\r\n\(body)")
            return try await client.readToEnd().text
        }

        func append(_ id: String, _ offset: Int, _ body: String, ends: Bool, _ more: String = "") async throws -> String
        {
            try await send(
                "PATCH /attachments/\(id) HTTP/1.1\r\nContent-Type: application/partial-upload\r\n"
                    + "Upload-Offset: \(offset)\r\nUpload-Complete: ?\(ends ? 1 : 0)\r\nContent-Length: \(body.utf8.count)"
                    + more,
                body
            )
        }
    }

    private func with(
        _ adjust: (inout EmulatorConfiguration) -> Void = { _ in },
        _ body: (Service) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "attachments-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = EmulatorConfiguration(tables: ["todo"])
        configuration.attachmentFolder = folder
        adjust(&configuration)
        let server = EmulatorServer(configuration)
        let url = try await server.start()
        try await body(Service(server: server, url: url, folder: folder))
        await server.stop()
    }

    @Test("a file in three requests, its states, and its file on disk")
    func states() async throws {
        try await with { service in
            let missing = try await service.send("HEAD /attachments/a HTTP/1.1")
            #expect(missing.hasPrefix("HTTP/1.1 404 ") && missing.contains("application/problem+json"))
            let first = try await service.append("a", 0, "abc", ends: false, "\r\nUpload-Length: 8")
            #expect(first.hasPrefix("HTTP/1.1 204 ") && first.contains("Upload-Complete: ?0\r\n"))
            let part = try await service.send("HEAD /attachments/a HTTP/1.1")
            #expect(part.hasPrefix("HTTP/1.1 204 "))
            for field in ["Upload-Offset: 3", "Upload-Complete: ?0", "Upload-Length: 8", "Cache-Control: no-store"] {
                #expect(part.contains(field + "\r\n"))
            }
            #expect(try await service.send("GET /attachments/a HTTP/1.1").hasPrefix("HTTP/1.1 404 "))
            #expect(try await service.append("a", 3, "de", ends: false).hasPrefix("HTTP/1.1 204 "))
            #expect(!FileManager.default.fileExists(atPath: service.folder.appending(path: "a").path))
            let last = try await service.append("a", 5, "fgh", ends: true)
            #expect(last.hasPrefix("HTTP/1.1 201 ") && last.contains("Upload-Complete: ?1\r\n"))
            let whole = try await service.send("HEAD /attachments/a HTTP/1.1")
            #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.hasSuffix("\r\n\r\n"))
            for field in ["Upload-Offset: 8", "Upload-Complete: ?1", "Upload-Length: 8", "Content-Length: 8"] {
                #expect(whole.contains(field + "\r\n"))
            }
            #expect(try String(contentsOf: service.folder.appending(path: "a"), encoding: .utf8) == "abcdefgh")
            #expect(try FileManager.default.contentsOfDirectory(atPath: service.folder.path) == ["a"])
            #expect(try await service.send("DELETE /attachments/a HTTP/1.1").hasPrefix("HTTP/1.1 204 "))
            #expect(try await service.send("DELETE /attachments/a HTTP/1.1").hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test("offsets and lengths that disagree are refused, with the right ones, and change nothing")
    func disagreement() async throws {
        try await with { service in
            _ = try await service.append("a", 0, "abc", ends: false, "\r\nUpload-Length: 8")
            for offset in [0, 2, 4, 8] {
                let answer = try await service.append("a", offset, "x", ends: false)
                #expect(answer.hasPrefix("HTTP/1.1 409 ") && answer.contains("Upload-Offset: 3\r\n"))
                #expect(answer.contains("#mismatching-upload-offset"))
            }
            for (body, ends, more) in [("x", true, ""), ("x", false, "\r\nUpload-Length: 9")] {
                let answer = try await service.append("a", 3, body, ends: ends, more)
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("#inconsistent-upload-length"))
            }
            #expect(try await service.append("b", 5, "x", ends: true).contains("Upload-Offset: 0\r\n"))
            #expect(try String(contentsOf: service.folder.appending(path: "a.part"), encoding: .utf8) == "abc")
            // Longer than was said: what is there is the beginning of nothing.
            #expect(try await service.append("a", 3, "123456", ends: false).hasPrefix("HTTP/1.1 400 "))
            #expect(try FileManager.default.contentsOfDirectory(atPath: service.folder.path) == [])
            _ = try await service.append("a", 0, "abc", ends: true)
            let again = try await service.append("a", 3, "", ends: true)
            #expect(again.hasPrefix("HTTP/1.1 400 ") && again.contains("Upload-Complete: ?1\r\n"))
            #expect(again.contains("#completed-upload"))
        }
    }

    @Test("what is no such request is refused")
    func refusals() async throws {
        try await with { service in
            let type = "Content-Type: application/partial-upload"
            for (fields, status) in [
                ("Upload-Offset: 0\r\nUpload-Complete: ?1", "415"), (type, "400"),
                ("\(type)\r\nUpload-Offset: 0", "400"), ("\(type)\r\nUpload-Offset: -1\r\nUpload-Complete: ?1", "400"),
                ("\(type)\r\nUpload-Offset: 0\r\nUpload-Complete: 1", "400"),
            ] {
                let answer = try await service.send(
                    "PATCH /attachments/a HTTP/1.1\r\n\(fields)\r\nContent-Length: 1",
                    "x"
                )
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            }
            #expect(try await service.send("POST /attachments/a HTTP/1.1").hasPrefix("HTTP/1.1 405 "))
            #expect(
                try await service.send("OPTIONS /attachments/a HTTP/1.1").contains("Accept-Patch: application/partial")
            )
        }
    }

    @Test(
        "ids that are none never reach the disk",
        arguments: [
            "..", ".", "%2E%2E", "..%2Fx", "a.part", "a%00", "%C3%A4", String(repeating: "a", count: 65), "a%2Fb",
            "%2e",
        ]
    )
    func ids(_ id: String) async throws {
        try await with { service in
            for answer in [
                try await service.append(id, 0, "abc", ends: true),
                try await service.send("GET /attachments/\(id) HTTP/1.1"),
                try await service.send("DELETE /attachments/\(id) HTTP/1.1"),
            ] {
                #expect(["HTTP/1.1 400 ", "HTTP/1.1 404 "].contains { answer.hasPrefix($0) }, "\(answer)")
            }
            #expect(!FileManager.default.fileExists(atPath: service.folder.path))
        }
    }

    @Test(
        "parts of a file",
        arguments: [
            ("bytes=0-", "206", "bytes 0-9/10", "0123456789"), ("bytes=3-5", "206", "bytes 3-5/10", "345"),
            ("bytes=7-99", "206", "bytes 7-9/10", "789"), ("bytes=-2", "206", "bytes 8-9/10", "89"),
            ("bytes=-20", "206", "bytes 0-9/10", "0123456789"), ("bytes=10-", "416", "bytes */10", nil),
            ("bytes=-0", "416", "bytes */10", nil), ("bytes=0-1,3-4", "200", nil, "0123456789"),
            ("bytes=5-3", "200", nil, "0123456789"), ("items=0-1", "200", nil, "0123456789"),
            ("bytes=a-", "200", nil, "0123456789"), ("bytes=-", "200", nil, "0123456789"),
        ] as [(String, String, String?, String?)]
    )
    func ranges(_ range: String, _ status: String, _ content: String?, _ body: String?) async throws {
        try await with { service in
            _ = try await service.append("a", 0, "0123456789", ends: true)
            let answer = try await service.send("GET /attachments/a HTTP/1.1\r\nRange: \(range)")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.contains("Content-Range: ") == (content != nil))
            if let content { #expect(answer.contains("Content-Range: \(content)\r\n")) }
            if let body { #expect(answer.hasSuffix("\r\n\r\n" + body)) }
        }
    }

    @Test("a part is given only of the file that was meant")
    func conditions() async throws {
        try await with { service in
            _ = try await service.append("a", 0, "0123456789", ends: true)
            let tag = try #require(
                try await service.send("HEAD /attachments/a HTTP/1.1").split(separator: "\r\n")
                    .first { $0.hasPrefix("ETag") }
            )
            .dropFirst("ETag: ".count)
            let part = "GET /attachments/a HTTP/1.1\r\nRange: bytes=5-\r\nIf-Range: "
            #expect(try await service.send(part + tag).hasPrefix("HTTP/1.1 206 "))
            #expect(try await service.send(part + "\"other\"").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("what arrived before the client went away stays, and another request ends one that has stopped")
    func interruption() async throws {
        try await with { service in
            let client = try RawClient(service.url)
            try await client.send(
                "PATCH /attachments/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/partial-upload\r\n"
                    + "Upload-Offset: 0\r\nUpload-Complete: ?1\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(String(decoding: try await client.read(25), as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("abc")
            let part = service.folder.appending(path: "a.part").path
            while try FileManager.default.attributesOfItem(atPath: part)[.size] as? Int != 3 { await Task.yield() }
            #expect(try await service.send("HEAD /attachments/a HTTP/1.1").contains("Upload-Offset: 3\r\n"))
            try await client.send("def")
            #expect(try await client.readToEnd().text.hasPrefix("HTTP/1.1 409 "))
            #expect(try await service.send("HEAD /attachments/a HTTP/1.1").contains("Upload-Offset: 3\r\n"))
            #expect(try await service.append("a", 3, "xyz", ends: false).hasPrefix("HTTP/1.1 204 "))
        }
    }

    @Test("without a folder of its own, a server takes its files with it")
    func temporary() async throws {
        var configuration = EmulatorConfiguration(tables: [])
        configuration.attachmentPath = "files/photos"
        var emulator: Emulator? = Emulator(configuration)
        let request = EmulatorRequest(
            "PATCH",
            "/files/photos/a",
            headers: [
                "Content-Type": "application/partial-upload", "Upload-Offset": "0", "Upload-Complete": "?1",
            ],
            body: Data("abc".utf8)
        )
        #expect(try await emulator?.handle(request).status == 201)
        #expect(try await emulator?.handle(EmulatorRequest("GET", "/files/photos/a")).body == Data("abc".utf8))
        let folder = try #require(emulator?.files.folder)
        #expect(FileManager.default.fileExists(atPath: folder.path))
        emulator = nil
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
}
