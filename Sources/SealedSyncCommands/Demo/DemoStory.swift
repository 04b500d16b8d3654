internal import DatasyncEmulator
internal import Foundation
internal import SealedSync

/// Tells the story step by step. A step that does not hold ends it.
final class DemoStory {
    private let folder: URL
    private let protocolNumber: Int
    private let printsLines: Bool
    private var steps: [DemoResult.Step] = []
    private var rows: [DemoResult.Row] = []

    private static let milk = "Buy oat milk for Zoë"
    private static let doctor = "Call Dr. Szymański about the results"
    private static let rent = "Pay the rent before Friday"
    private static let gift = "Find a birthday gift"
    private static let secrets = [milk, doctor, rent, gift, "Szyma", "birthday gift", "TodoItem"]

    init(folder: URL, protocolNumber: Int, printsLines: Bool) {
        self.folder = folder
        self.protocolNumber = protocolNumber
        self.printsLines = printsLines
    }

    func tell() async throws -> DemoResult {
        let start = ContinuousClock.now
        let server = EmulatorServer(EmulatorCommand.configuration(protocolNumber, tables: [.init(DemoTodo.table)]))
        let url = try await server.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await tell(server.emulator, at: url))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try result.get()
        let ok = steps.allSatisfy(\.ok)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if printsLines {
            Console.write(ok ? "Everything held, in \(Self.tenths(seconds)) s." : "NOT everything held.")
        }
        return DemoResult(ok: ok, seconds: seconds, steps: steps, rows: rows)
    }

    private func tell(_ server: Emulator, at url: URL) async throws {
        let remote = try DatasyncRemote(
            baseURL: url,
            dialect: try DatasyncDialect(rawValue: protocolNumber).orFail("there is no such protocol")
        )
        step("A server", true, "\(url.absoluteString), protocol \(protocolNumber)")

        let folders = ["phone", "laptop"].map { StoreFolder(folder.appendingPathComponent($0)) }
        let passphrases = try ["a phone of one's own", "another for the laptop"].map { try SecretBytes($0) }
        var phone = try await DemoDevice.create(folders[0], passphrases[0], remote)
        var laptop = try await DemoDevice.create(folders[1], passphrases[1], remote)
        step(
            "Two encrypted stores",
            true,
            "SQLCipher \(phone.store.engineVersion.cipher)"
        )

        // Offline: nothing below touches the network until the first sync.
        var milk = try await phone.todos.insert(DemoTodo(text: Self.milk))
        _ = try await phone.todos.insert(DemoTodo(text: Self.doctor))
        var rent = try await laptop.todos.insert(DemoTodo(text: "Pay the rent"))
        let gift = try await laptop.todos.insert(DemoTodo(text: Self.gift))
        milk.complete = true
        try await phone.todos.update(milk)
        rent.text = Self.rent
        try await laptop.todos.update(rent)
        let before = (try await phone.contents(), try await laptop.contents())
        step("Offline: added and edited", before.0.count == 2 && before.1.count == 2, "2 on the phone, 2 on the laptop")

        await phone.store.close()
        await laptop.store.close()
        // The passphrases are stretched once here; later openings use the unlocked keys.
        let keyrings = [
            try await folders[0].unlock(PassphraseUnlocker(passphrase: passphrases[0])),
            try await folders[1].unlock(PassphraseUnlocker(passphrase: passphrases[1])),
        ]
        phone = try await DemoDevice.open(folders[0], keyrings[0], remote)
        laptop = try await DemoDevice.open(folders[1], keyrings[1], remote)
        let pending = try await phone.context.status().pending + laptop.context.status().pending
        let kept = try await (phone.contents(), laptop.contents())
        step("Closed and reopened: all there", kept == before && pending == 4, "\(pending) changes wait")
        let unseen = contents(of: server).isEmpty
        step(
            "The server has not seen them",
            unseen && remote.requestCount == 0,
            "\(remote.requestCount) requests so far"
        )

        try await phone.sync()
        try await laptop.sync()
        try await phone.sync()
        step("Synced: all three agree", try await agree(phone, laptop, server), "4 to-dos each")

        try await conflict(on: gift.id, phone, laptop, server)

        try await phone.todos.delete(rent.id)
        try await phone.sync()
        try await laptop.sync()
        let isGone = try await laptop.todos.read(rent.id) == nil
        step("Deleted on one, gone on the other", isGone, "a tombstone told it")

        try await proveEncryption(folders, phone, laptop)

        phone = try await DemoDevice.open(folders[0], keyrings[0], remote)
        laptop = try await DemoDevice.open(folders[1], keyrings[1], remote)
        try await compare(phone, laptop, server)
        await phone.store.close()
        await laptop.store.close()
    }

    private func conflict(
        on id: String,
        _ phone: DemoDevice,
        _ laptop: DemoDevice,
        _ server: Emulator
    ) async throws {
        for (device, text) in [(phone, "Find a gift: a book"), (laptop, "Find a gift: a kite")] {
            var todo = try (try await device.todos.read(id)).orFail("the to-do is missing")
            todo.text = text
            try await device.todos.update(todo)
        }
        try await phone.sync()
        try await laptop.sync()
        let errors = try await laptop.context.operationErrors()
        let conflict = errors.first { $0.isConflict && $0.itemID == id }
        step(
            "Edited on both: a conflict is found",
            errors.count == 1 && conflict?.serverItem?["text"] == "Find a gift: a book"
                && conflict?.item?["text"] == "Find a gift: a kite",
            "book or kite? nothing lost"
        )
        guard let conflict else { return }
        try await laptop.context.resolve(conflict, with: .keepMine)
        try await laptop.sync()
        try await phone.sync()
        let isKite = try await phone.todos.read(id)?.text == "Find a gift: a kite"
        let isEverywhere = try await agree(phone, laptop, server)
        step("Resolved: the kite wins everywhere", isKite && isEverywhere, "keep mine")
    }

    private func proveEncryption(
        _ folders: [StoreFolder],
        _ phone: DemoDevice,
        _ laptop: DemoDevice
    ) async throws {
        let texts = Self.secrets + (try await phone.contents()).flatMap { [$0.text, $0.id] }
        let whileOpen = try PlaintextScan.search(folders.map(\.url), for: texts)
        await phone.store.close()
        await laptop.store.close()
        let closed = try PlaintextScan.search(folders.map(\.url), for: texts)
        step(
            "Nothing readable on disk",
            whileOpen.found.isEmpty && closed.found.isEmpty && closed.bytes > 0,
            "\(whileOpen.files) files, \(whileOpen.bytes / 1_024) KiB, every byte"
        )
        var refusal: KeyError.Code?
        do {
            _ = try await folders[0].unlock(PassphraseUnlocker(passphrase: try SecretBytes("a guess")))
        } catch let error as KeyError {
            refusal = error.code
        }
        step(
            "A wrong passphrase is refused",
            refusal == .wrongSecret,
            refusal == .wrongSecret ? "told from damage" : "it was not"
        )
    }

    private func compare(_ phone: DemoDevice, _ laptop: DemoDevice, _ server: Emulator) async throws {
        let sides = try await (phone.contents(), laptop.contents(), contents(of: server))
        rows = sides.0.union(sides.1).union(sides.2)
            .sorted { ($0.text, $0.id) < ($1.text, $1.id) }
            .map { content in
                DemoResult.Row(
                    id: content.id,
                    text: content.text,
                    complete: content.complete,
                    phone: sides.0.contains(content),
                    laptop: sides.1.contains(content),
                    server: sides.2.contains(content)
                )
            }
        let areEqual = rows.allSatisfy { $0.phone && $0.laptop && $0.server }
        step("All three are equal, row by row", areEqual && rows.count == 3, "\(rows.count) to-dos")
        guard printsLines else { return }
        var table = TextTable(["", "to-do", "phone", "laptop", "server"], flexible: 1)
        for row in rows {
            table.add(
                [row.complete ? "[x]" : "[ ]", row.text]
                    + [row.phone, row.laptop, row.server].map { $0 ? "yes" : "NO" }
            )
        }
        Console.write("")
        for line in table.lines { Console.write("  " + line) }
        Console.write("")
    }

    private func agree(_ phone: DemoDevice, _ laptop: DemoDevice, _ server: Emulator) async throws -> Bool {
        let contents = contents(of: server)
        let (onPhone, onLaptop) = try await (phone.contents(), laptop.contents())
        return onPhone == contents && onLaptop == contents
    }

    /// What the server holds and has not marked as deleted, read without the client.
    private func contents(of server: Emulator) -> Set<DemoContent> {
        let rows = server.rows(in: DemoTodo.table).filter { $0["deleted"] != .bool(true) }
        return Set(
            rows.map { row in
                DemoContent(
                    id: row["id"]?.string ?? "",
                    text: row["text"]?.string ?? "",
                    complete: row["complete"] == .bool(true)
                )
            }
        )
    }

    private func step(_ name: String, _ ok: Bool, _ detail: String) {
        steps.append(DemoResult.Step(name: name, ok: ok, detail: detail))
        guard printsLines else { return }
        let dots = String(repeating: ".", count: max(2, 38 - name.count))
        Console.write("\(ok ? "ok" : "FAILED")  \(name) \(dots) \(detail)")
    }

    private static func tenths(_ seconds: Double) -> String {
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

extension Optional {
    /// The value, or a failure in the words of the tool.
    fileprivate func orFail(_ message: String) throws -> Wrapped {
        guard let self else { throw ToolError("unexpected", message) }
        return self
    }
}
