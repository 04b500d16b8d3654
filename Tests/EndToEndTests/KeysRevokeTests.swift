import ChildProcesses
import Foundation
import SealedSync
import SeededNumbers
import Testing

@Suite("Rotating and revoking keys, one process per call")
struct KeysRevokeTests {
    private let folder: TemporaryFolder
    private let device: StoreDevice

    /// A store with the secret file of the device, and two more.
    init() async throws {
        folder = try TemporaryFolder()
        device = try await StoreDevice.make(folder.file("d"), rows: 5)
        for name in ["second", "third"] {
            let unlocker = SecretFileUnlocker(at: folder.file(name), label: name)
            try await device.folder.keyslots.add(unlocker, authorizedBy: SecretFileUnlocker(at: device.secretFile))
        }
        try folder.write("new passphrase\n", to: "new")
    }

    private func path(_ name: String) -> String { folder.file(name).path }

    private func run(_ arguments: [String]) async throws -> ToolProcess.Result {
        try await ToolProcess.run(["keys"] + arguments + ["--store", device.path])
    }

    private func json(_ arguments: String...) async throws -> [String: Any] {
        let result = try await run(arguments + ["--json"])
        try #require(result.status == 0, "\(arguments): \(result.errors)")
        return try result.json()
    }

    /// The numbers and labels of slots in an answer.
    private func slots(_ answer: Any?) -> [String] {
        ((answer as? [[String: Any]]) ?? []).map { "\($0["slot"] ?? "") \($0["label"] ?? "")" }
    }

    private var keepBoth: [String] { ["--keep-secret-file", path("second"), "--keep-secret-file", path("third")] }

    @Test("a missing secret is refused and its slot named, in text and JSON, and not a byte changes")
    func missing() async throws {
        let before = try device.contents()
        for action in [["rotate"], ["revoke", "2", "--yes"]] {
            let result = try await run(action + ["--json"])
            #expect(result.status == 1)
            let error = try #require(try result.json()["error"] as? [String: Any])
            #expect(error["code"] as? String == "missingUnlocker")
            #expect(result.message.contains("slot 3 (secret-file, third)"), "\(result.message)")
            #expect(result.message.contains("slot 2") == (action == ["rotate"]), "\(result.message)")
            #expect(result.message.contains("--drop-missing"))
        }
        #expect(try device.contents() == before)
    }

    @Test("a rotation keeps the slots whose secrets are given; --drop-missing lets the others go and names them")
    func rotate() async throws {
        let rows = try await device.rows()
        let kept = try await ToolProcess.run(["keys", "rotate", "--store", device.path, "--json"] + keepBoth)
        #expect(try slots(kept.json()["kept"]) == ["1 ", "2 second", "3 third"])
        #expect(try kept.json()["rootKeyRenewed"] as? Bool == true)
        let dropping = try await json("rotate", "--drop-missing", "--keep-secret-file", path("third"))
        #expect(slots(dropping["dropped"]) == ["2 second"])
        #expect(slots(dropping["kept"]) == ["1 ", "3 third"])
        #expect(try await device.rows() == rows)
        #expect(try await slots(json("status")["slots"]) == ["1 ", "2 third"])
    }

    @Test("a rotation of the data key alone keeps every slot, needs one secret, and says that it shuts nobody out")
    func dataKeyOnly() async throws {
        let answer = try await json("rotate", "--data-key-only")
        #expect(answer["rotated"] as? Bool == true && answer["rootKeyRenewed"] as? Bool == false)
        #expect(try await slots(json("status")["slots"]).count == 3)
        let help = try await ToolProcess.run(["keys", "rotate", "--help"])
        let words = help.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("Shuts out nobody who kept an old keyslot file"))
    }

    @Test(
        "attachments are encrypted anew with the keys, and the answer says how many",
        arguments: ["revoke", "rotate"]
    )
    func attachments(_ action: String) async throws {
        let folder = try await withPhotos(2)
        func names() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.attachmentsURL.path))
        }
        let before = try names()
        let place = ["--store", folder.url.path, "--secret-file", device.secretFile.path]
        let choice = action == "revoke" ? ["2", "--yes"] : ["--drop-missing"]
        let result = try await ToolProcess.run(["keys", action] + choice + place + ["--json"])
        #expect(try result.json()["filesEncryptedAnew"] as? Int == 2, "\(result.output) \(result.errors)")
        #expect(try names().isDisjoint(with: before) && names().count == 2)
        let routine = try await ToolProcess.run(["keys", "rotate", "--data-key-only"] + place + ["--json"])
        #expect(try routine.json()["filesEncryptedAnew"] == nil)
    }

    @Test(
        "attachments that cannot be encrypted anew are said in the answer, and end with status 1: the keys are changed",
        arguments: ["revoke", "rotate"],
        [false, true]
    )
    func attachmentsFailure(_ action: String, isDamaged: Bool) async throws {
        let folder = try await withPhotos(2)
        if isDamaged {
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: folder.attachmentsURL.path).first
            )
            try Data([1]).write(to: folder.attachmentsURL.appending(path: name))
        } else {
            // What a kill has left is swept away first, and a folder is not removed like a file.
            let obstacle = folder.attachmentsURL.appending(path: String(repeating: "f", count: 32) + ".new")
            try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        }
        let place = ["--store", folder.url.path, "--secret-file", device.secretFile.path]
        let choice = action == "revoke" ? ["2", "--yes"] : ["--drop-missing"]
        let result = try await ToolProcess.run(["keys", action] + choice + place + ["--json"])
        #expect(result.status == 1)
        #expect(result.message.contains("The keys are changed"), "\(result.errors)")
        let answer = try result.json()
        #expect(answer["rotated"] as? Bool == true && answer["filesEncryptedAnew"] == nil, "\(result.output)")
        let failure = try #require(answer["attachmentsFailure"] as? [String: Any])
        #expect((failure["message"] as? String)?.isEmpty == false)
        #expect(try await KeyslotFile.read(at: folder.keyslotsURL).slots.count == 1)
    }

    /// A folder with cards and their photos, and with the slot of a secret that has leaked.
    private func withPhotos(_ count: Int) async throws -> StoreFolder {
        let folder = StoreFolder(self.folder.file("files"))
        let context = try await SyncContext.open(
            folder,
            schema: [.init(Card.self)],
            unlocker: SecretFileUnlocker(at: device.secretFile),
            options: SyncOptions(attachments: AttachmentOptions())
        )
        for byte in 0..<count {
            let photo = try await context.attachments.add(Data([UInt8(byte)]))
            try await context.table(Card.self).insert(Card(photo: photo))
        }
        await context.close()
        let leaked = SecretFileUnlocker(at: URL(filePath: path("second")))
        try await folder.keyslots.add(leaked, authorizedBy: SecretFileUnlocker(at: device.secretFile))
        return folder
    }

    private struct Card: SyncItem {
        var id = UUID()
        var photo: AttachmentID?
    }

    @Test("flags that exclude each other are wrong usage, and say so")
    func usage() async throws {
        let mistakes = [
            (["rotate", "--data-key-only", "--drop-missing"], "exclude each other"),
            (["rotate", "--data-key-only", "--keep-secret-file", "x"], "takes none of the --keep options"),
            (["rotate", "--keep-secret-file", ""], "need the name of a file"),
            (["revoke"], "<slot>"),
            (["revoke", "two"], "whole number"),
            (["revoke", "2", "--label", "x"], "--new-passphrase-file"),
            (["revoke", "2", "--ask-new-passphrase", "--new-passphrase-file", "x"], "exclude each other"),
        ]
        let before = try device.contents()
        for (arguments, message) in mistakes {
            let result = try await run(arguments)
            #expect(result.status == 64, "\(arguments)")
            #expect(result.message.contains(message), "\(arguments): \(result.message)")
        }
        #expect(try device.contents() == before)
    }

    @Test("several slots are revoked at once, also the one that authorizes it, with a replacement in its place")
    func revoke() async throws {
        let rows = try await device.rows()
        let answer = try await json(
            "revoke",
            "3",
            "2",
            "3",
            "--yes",
            "--secret-file",
            path("second"),
            "--keep-secret-file",
            device.secretFile.path,
            "--new-passphrase-file",
            path("new"),
            "--label",
            "Ada's"
        )
        #expect(slots(answer["revoked"]) == ["2 second", "3 third"])
        #expect(slots(answer["kept"]) == ["1 "])
        #expect(slots((answer["added"] as? [String: Any]).map { [$0] }) == ["2 Ada's"])
        #expect(try await device.rows() == rows)
        for (option, file, opens) in [
            ("--secret-file", "second", false), ("--secret-file", "third", false), ("--passphrase-file", "new", true),
        ] {
            let result = try await device.run(["inspect", option, path(file)])
            #expect((result.status == 0) == opens, "\(file): \(result.errors)")
        }
        let status = try await json("status")
        #expect(slots(status["slots"]) == ["1 ", "2 Ada's"])
        #expect(status["rotationOverdue"] as? Bool == false && status["rotationDue"] as? Bool == false)
    }

    @Test("an unknown slot, all slots, a wrong secret and no answer to the question are refused, and nothing changes")
    func refusals() async throws {
        let before = try device.contents()
        try folder.write(String(repeating: "ab", count: 32) + "\n", to: "wrong")
        let refusals = [
            (["revoke", "2", "4", "--yes"], "There is no slot 4; the store has slots 1 to 3"),
            (["revoke", "0", "--yes"], "There is no slot 0"),
            (["revoke", "1", "2", "3", "--yes"], "No slot would be left"),
            (
                ["revoke", "2", "--yes", "--keep-secret-file", path("wrong"), "--drop-missing"],
                "'\(path("wrong"))' opens no slot"
            ),
            (["revoke", "2", "--yes", "--drop-missing", "--secret-file", path("wrong")], "not the one of this store"),
            (["revoke", "2", "--drop-missing"], "give --yes"),
            (["revoke", "2", "--yes", "--ask-new-passphrase"], "--new-passphrase-file"),
        ]
        for (arguments, message) in refusals {
            let result = try await run(arguments)
            #expect(result.status == 1, "\(arguments)")
            #expect(result.message.contains(message), "\(arguments): \(result.message)")
        }
        #expect(try device.contents() == before)
        let nowhere = try await ToolProcess.run(["keys", "revoke", "1", "--yes", "--store", path("nowhere")])
        #expect(nowhere.status == 1 && nowhere.message.contains("no store"))
    }

    @Test("on a terminal the new passphrase is asked for, if that is asked for", .enabled(if: Terminals.areAvailable))
    func prompt() async throws {
        let tool = try ToolProcess.executable.path
        let revoke = "'\(tool)' keys revoke 2 --drop-missing --store '\(device.path)'"
        let declined = try await Terminals.run(revoke, input: "no\n")
        #expect(declined.status == 1 && declined.output.contains("slot 2 (secret-file, second)"), "\(declined.output)")
        #expect(declined.output.contains("Nothing was changed") && !declined.output.contains("passphrase"))
        let answers = [
            ("New passphrase:", "typed in secret\n"), ("Once more:", "typed in secret\n"), ("to go on:", "revoke\n"),
        ]
        let asked = try await Terminals.run("\(revoke) --ask-new-passphrase", dialogue: answers)
        #expect(asked.status == 0 && asked.output.contains("added   slot 2"), "\(asked.output)")
        #expect(asked.output.contains("dropped slot 3 (secret-file, third)"))
        #expect(try await device.rows().count == 6)
    }

    /// Which way a kill of a revocation can leave a store; overdue is one whose new database got lost as well.
    private enum Outcome: String {
        case undone, overdue, done
    }

    @Test(
        "whenever revoke dies, the store opens with every row, and its keys are the old ones or the new ones, or it says so"
    )
    func killed() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let before = try await device.rows()
        let contents = try device.contents()
        var outcomes: [Outcome: Int] = [:]
        for round in 0..<10 {
            for (name, data) in contents where name != "store.secret" {
                let file = device.folder.url.appendingPathComponent(name)
                try data.write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            }
            var thief = try await KeyThief(in: device.folder, with: SecretFileUnlocker(at: folder.file("second")))
            #expect(try await thief.opensDatabase())
            let arguments = [
                "keys", "revoke", "2", "--yes", "--keep-secret-file", path("third"), "--store", device.path,
            ]
            let process = try ToolProcess.start(arguments)
            let revision = try Data(contentsOf: device.folder.keyslotsURL)
            let waitsForKeyslots = Bool.random(using: &random)
            let deadline = ContinuousClock.now + .milliseconds(Int.random(in: 1...250, using: &random))
            try await looking {
                try !process.isRunning
                    || (waitsForKeyslots
                        ? Data(contentsOf: device.folder.keyslotsURL) != revision : ContinuousClock.now >= deadline)
            }
            process.signal(SIGKILL)
            _ = await process.result()
            let unfinished = device.database.path + ".new"
            let isBetween =
                try await KeyslotFile.read(at: device.folder.keyslotsURL).isRotationPending
                && FileManager.default.fileExists(atPath: unfinished)
            let isLost = isBetween && Bool.random(using: &random)
            if isLost { try FileManager.default.removeItem(atPath: unfinished) }

            #expect(try await device.rows() == before, "seed \(seed), round \(round)")
            let file = try await KeyslotFile.read(at: device.folder.keyslotsURL)
            let isIn = try await thief.opensDatabase()
            #expect(!file.isRotationPending)
            let outcome: Outcome = file.slots.count == 3 ? .undone : file.isRotationOverdue ? .overdue : .done
            outcomes[outcome, default: 0] += 1
            #expect((outcome == .overdue) == isLost, "seed \(seed), round \(round)")
            #expect(isIn == (outcome != .done), "seed \(seed), round \(round): \(outcome)")
            let status = try await json("status")
            #expect(status["rotationOverdue"] as? Bool == (outcome == .overdue))
            switch outcome {
            case .undone: _ = try await json("revoke", "2", "--yes", "--keep-secret-file", path("third"))
            case .overdue:
                #expect(try await run(["status"]).output.contains("'keys rotate --data-key-only' ends it"))
                let list = try await device.run(["inspect"])
                #expect(list.status == 0 && list.message.contains("the data key is still the old one"))
                _ = try await json("rotate", "--data-key-only")
            case .done: break
            }
            #expect(try await !thief.opensDatabase(), "seed \(seed), round \(round)")
            #expect(try await device.rows() == before, "seed \(seed), round \(round)")
            #expect(try device.names() == ["store.db", "store.db.lock", "store.keys", "store.secret"])
        }
        for (outcome, count) in outcomes { print("\(count) \(outcome)") }
    }
}
