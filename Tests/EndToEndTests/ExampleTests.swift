import ChildProcesses
import DatasyncEmulator
import FixedPorts
import Foundation
import Testing

@Suite("The example apps")
struct ExampleTests {
    /// The offline test of the original tutorials: with a wrong address nothing is lost, and with the right one
    /// everything is sent.
    @Test("the to-do list keeps what it could not send, and sends it")
    func todo() async throws {
        let folder = try TemporaryFolder()
        try await EmulatorProcess.with(3) { emulator in
            let offline = try await run(in: folder, "http://127.0.0.1:9", ["add Buy milk", "add Call Ann", "sync"])
            let lines = offline.output.split(separator: "\n")
            #expect(lines.suffix(3).prefix(2) == ["- Buy milk", "- Call Ann"])
            let said = try #require(lines.last)
            #expect(said.hasPrefix("2 waiting; ") && !said.hasSuffix("all well"))

            let online = try await run(in: folder, emulator.url, ["sync", "done Call Ann", "sync"])
            #expect(online.output.hasSuffix("- Buy milk\n0 waiting; all well\n"), "\(online.output)")
            let rows = try #require(try await emulator.send("GET", "/tables/TodoItem").object["items"] as? [Any])
            #expect(rows.count == 2)
        }
    }

    /// The story begins without a server; the server begins when the story waits for it.
    @Test("the book of coupons tells its whole story")
    func couponBook() async throws {
        let folder = try TemporaryFolder()
        var configuration = EmulatorConfiguration(tables: ["Brand", "Coupon"])
        configuration.store.assignsIDs = true
        let server = EmulatorServer(configuration)
        let url = try await server.startOnFixedPort()
        await server.stop()
        for (title, times) in [("Чужая карта", 1), ("Спорная карта", 1)] {
            let refusal = EmulatorResponse.json(403, ["error": "Not in this book."])
            server.emulator.inject(
                .respond(refusal, times: times) {
                    $0.method == "POST" && String(decoding: $0.body, as: UTF8.self).contains(title)
                }
            )
        }
        let program = try ToolProcess.executable.deletingLastPathComponent().appending(path: "coupon-book")
        let process = try ChildProcess(
            .init(
                program,
                [url.absoluteString],
                environment: ["HOME": folder.url.path, "XDG_DATA_HOME": folder.url.path],
                input: .text("a passphrase\n")
            )
        )
        _ = await process.output(contains: "waiting for the network\n")
        try await server.start(port: UInt16(try #require(url.port)))
        let result = await process.result()
        #expect(result.errors == "" && result.status == 0)
        await server.stop()
        let address = "127.0.0.1:\(try #require(url.port))"
        #expect(result.output.replacing(address, with: "SERVER") == Self.couponStory)
    }

    private static let couponStory = """
        its photo: 100000 bytes, pending
        shops: Аптека, Детский мир, Пятёрочка
        -- without a network
        ★ Пятёрочка −5 % pending
          Аптека на углу pending
          ёлки и игрушки pending
          Спорная карта pending
          Чужая карта pending
        ПЯТЕР: Пятёрочка −5 %
        катя: Пятёрочка −5 %, Аптека на углу, Спорная карта
        an id of the server's: not yet
        waiting for the network
        the same card: ёлки и игрушки
        an id of the server's: known
        -- in step
        ★ Пятёрочка −5 % synced
          Аптека на углу synced
          ёлки и игрушки synced
          Спорная карта failed
          Чужая карта failed
        its photo: 100000 bytes, synced
        Чужая карта was refused and is given up: SERVER refuses the request to table 'Coupon': Not in this book.
        Спорная карта was refused and is kept: SERVER refuses the request to table 'Coupon': Not in this book.
        -- settled
        ★ Пятёрочка −5 % synced
          Аптека на углу synced
          ёлки и игрушки synced
          Спорная карта synced
        deleted: Пятёрочка −5 % and waiting: 1
        there again: Пятёрочка −5 % and waiting: 0
        sent: 0 not taken: 0
        -- pruned
        ★ Пятёрочка −5 % synced
          ёлки и игрушки synced
          Спорная карта synced

        """

    private func run(in folder: TemporaryFolder, _ address: String, _ lines: [String]) async throws
        -> ToolProcess.Result
    {
        let program = try ToolProcess.executable.deletingLastPathComponent().appending(path: "todo")
        let result = try await ToolProcess.run(
            program: URL(fileURLWithPath: "/bin/sh"),
            ["-c", #"printf '%s\n' "$INPUT" | "$PROGRAM" "$ADDRESS""#],
            environment: [
                "INPUT": (["a passphrase"] + lines).joined(separator: "\n"), "PROGRAM": program.path,
                "ADDRESS": address,
                "HOME": folder.url.path, "XDG_DATA_HOME": folder.url.path,
            ]
        )
        try #require(result.status == 0, "\(result.errors)")
        return result
    }
}
