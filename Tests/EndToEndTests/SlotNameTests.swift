import ChildProcesses
import Foundation
import SealedSync
import Testing

@Suite("Slots by their ids, one process per call")
struct SlotNameTests {
    private let folder: TemporaryFolder
    private let device: StoreDevice

    /// A store with the secret file of the device, and two more.
    init() async throws {
        folder = try TemporaryFolder()
        device = try await StoreDevice.make(folder.file("d"), rows: 1)
        for name in ["second", "third"] {
            let unlocker = SecretFileUnlocker(at: folder.file(name), label: name)
            try await device.folder.keyslots.add(unlocker, authorizedBy: SecretFileUnlocker(at: device.secretFile))
        }
    }

    private var slots: [Keyslot] {
        get async throws { try await KeyslotFile.read(at: device.folder.keyslotsURL).slots }
    }

    private func run(_ arguments: [String]) async throws -> ToolProcess.Result {
        try await ToolProcess.run(["keys"] + arguments + ["--store", device.path])
    }

    private var keepThird: [String] { ["--keep-secret-file", folder.file("third").path] }

    @Test("status shows the beginning of each id, and all of it to programs")
    func status() async throws {
        let (table, answer) = (try await run(["status"]).output, try await run(["status", "--json"]).json())
        let ids = ((answer["slots"] as? [[String: Any]]) ?? []).compactMap { $0["id"] as? String }
        #expect(try await ids == slots.map { "\($0.id)" })
        for (number, id) in zip(1..., ids) { #expect(table.contains("\n\(number)     \(id.prefix(8))  "), "\(table)") }
    }

    @Test(
        "a slot is revoked and removed by its id, by the digits that status shows or by all of them",
        arguments: ["revoke", "remove"],
        [8, 32]
    )
    func names(action: String, count: Int) async throws {
        let id = "\(try await slots[1].id)".prefix(count)
        let result = try await run([action, id.uppercased(), "--yes"] + keepThird)
        #expect(result.status == 0, "\(result.message)")
        #expect(try await slots.map(\.label) == ["", "third"])
        let repeated = try await run([action, String(id), "--yes"] + keepThird)
        #expect(repeated.status == 1 && repeated.message.contains("There is no slot with the id \(id)"))
        #expect(try await slots.map(\.label) == ["", "third"])
    }

    @Test("a number that has become that of a slot to be kept is refused")
    func movedSlot() async throws {
        #expect(try await run(["revoke", "2", "--yes"] + keepThird).status == 0)
        let before = try device.contents()
        let repeated = try await run(["revoke", "2", "--yes"] + keepThird)
        #expect(repeated.status == 1)
        #expect(repeated.message.contains("opens nothing but slot 2 (secret-file, third)"), "\(repeated.message)")
        #expect(try device.contents() == before)
    }

    @Test("what is neither a number nor an id is wrong usage", arguments: ["two", "0x2", "12345678x"])
    func usage(name: String) async throws {
        let result = try await run(["revoke", "--yes", name])
        #expect(result.status == 64 && result.message.contains("hexadecimal digits"), "\(result.message)")
    }

    @Test(
        "the slot that authorizes its own revocation is still that one when a new passphrase was asked for",
        .enabled(if: Terminals.areAvailable)
    )
    func weakSlot() async throws {
        try folder.write("weak\n", to: "weak")
        let weak = PassphraseUnlocker(
            passphrase: try SecretBytes("weak"),
            cost: .insecureForTests(log2N: 4, blockSize: 8, parallelization: 1),
            label: "weak"
        )
        try await device.folder.keyslots.add(weak, authorizedBy: SecretFileUnlocker(at: device.secretFile))
        let id = try await slots[3].id
        let tool = try ToolProcess.executable.path
        let result = try await Terminals.run(
            """
            '\(tool)' keys revoke \(id) --drop-missing --yes --ask-new-passphrase --store '\(device.path)' \
            --passphrase-file '\(folder.file("weak").path)'
            """,
            dialogue: [("New passphrase:", "typed in secret\n"), ("Once more:", "typed in secret\n")]
        )
        #expect(result.status == 0 && result.output.contains("revoked slot 4"), "\(result.output)")
        #expect(try await slots.map(\.label) == ["weak"])
    }
}
