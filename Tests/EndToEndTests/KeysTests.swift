import Foundation
import SealedSync
import Testing

@Suite("Looking after the keys of a store, one process per call")
struct KeysTests {
    private let folder: TemporaryFolder
    private let device: StoreDevice

    init() async throws {
        folder = try TemporaryFolder()
        device = try await StoreDevice.make(folder.file("d"), rows: 5)
        for name in ["first", "second"] { try folder.write("\(name) passphrase of some length\n", to: name) }
    }

    private func run(_ arguments: String..., through launcher: [String] = []) async throws -> ToolProcess.Result {
        try await ToolProcess.run(["keys"] + arguments + ["--store", device.path], through: launcher)
    }

    private func json(_ arguments: String...) async throws -> [String: Any] {
        let result = try await ToolProcess.run(["keys"] + arguments + ["--store", device.path, "--json"])
        try #require(result.status == 0, "\(arguments): \(result.errors)")
        return try result.json()
    }

    private func path(_ name: String) -> String { folder.file(name).path }

    private func slots() async throws -> [String] {
        try #require(try await json("status")["slots"] as? [[String: Any]]).compactMap { $0["kind"] as? String }
    }

    @Test("a passphrase is added, opens, is changed, and is removed; the database's bytes stay as they are")
    func passphrases() async throws {
        let before = try Data(contentsOf: device.database)
        let added = try await json("add-passphrase", "--new-passphrase-file", path("first"), "--label", "Ada's")
        let slot = try #require(added["added"] as? [String: Any])
        #expect(slot["slot"] as? Int == 2 && slot["label"] as? String == "Ada's")
        #expect(try await slots() == ["secret-file", "passphrase-scrypt"])

        let old = ["--passphrase-file", path("first")]
        let changed = try await run("change-passphrase", old[0], old[1], "--new-passphrase-file", path("second"))
        #expect(changed.status == 0, "\(changed.errors)")
        #expect(changed.output.contains("slot 2 (passphrase-scrypt, Ada's)"))
        let refused = try await run("recovery-code", old[0], old[1], "--json")
        #expect(refused.status == 1)
        let error = try #require(try refused.json()["error"] as? [String: Any])
        #expect(error["code"] as? String == "wrongSecret")
        #expect(refused.message.contains("the passphrase is wrong"))

        let removed = try await json("remove", "1", "--passphrase-file", path("second"), "--yes")
        #expect((removed["removed"] as? [String: Any])?["kind"] as? String == "secret-file")
        #expect((removed["kept"] as? [Any])?.count == 1 && (removed["dropped"] as? [Any])?.isEmpty == true)
        #expect(try await slots() == ["passphrase-scrypt"])
        #expect(try Data(contentsOf: device.database) == before)
    }

    @Test("a passphrase comes through a descriptor, never from the command line")
    func descriptor() async throws {
        let shell = "exec 3<\"$0\"; exec \"$@\""
        let result = try await run(
            "add-passphrase",
            "--new-passphrase-file",
            "/dev/fd/3",
            through: ["sh", "-c", shell, path("first")]
        )
        #expect(result.status == 0, "\(result.errors)")
        let status = try await ToolProcess.run(
            ["store", "inspect", "--store", device.path, "--passphrase-file", path("first"), "--json"]
        )
        #expect(try status.status == 0 && status.json()["content"] != nil)
        let wrong = try await run("add-passphrase", "--new-passphrase", "secret")
        #expect(wrong.status == 64)
        let nothing = try await run("add-passphrase")
        #expect(nothing.status == 1 && nothing.message.contains("--new-passphrase-file"))
    }

    @Test(
        "a passphrase file that others can read is taken with a warning, on standard error",
        arguments: [0o644, 0o640]
    )
    func readableByOthers(mode: Int) async throws {
        #expect(try await run("add-passphrase", "--new-passphrase-file", path("first")).errors == "")
        try folder.write("open to others", to: "second", mode: mode)
        let added = try await run("add-passphrase", "--new-passphrase-file", path("second"), "--json")
        #expect(try added.status == 0 && added.json()["added"] != nil)
        #expect(added.message.contains("chmod 600 '\(path("second"))'"))
    }

    @Test("a new passphrase that is soon guessed is taken with a warning, on standard error")
    func weakPassphrase() async throws {
        try folder.write("correct horse\n", to: "second")
        let added = try await run("add-passphrase", "--new-passphrase-file", path("second"), "--json")
        #expect(try added.status == 0 && added.json()["added"] != nil)
        #expect(added.errors.contains("warning: ") && added.errors.contains("in about 24 minutes"), "\(added.errors)")
        #expect(!added.errors.contains("horse"))
    }

    @Test("a recovery code is shown once, opens the store however it is typed, and a typing error is not a wrong code")
    func recoveryCode() async throws {
        let answer = try await json("recovery-code", "--label", "paper")
        let code = try #require(answer["recoveryCode"] as? String)
        #expect(code.split(separator: "-").map(\.count) == Array(repeating: 4, count: 7))
        let shown = try await run("status").output
        #expect(!shown.contains(code))

        func unlocking(_ text: String) async throws -> ToolProcess.Result {
            try folder.write(text, to: "typed")
            let keep = ["--keep-secret-file", device.secretFile.path]
            return try await run("rotate", "--recovery-code-file", path("typed"), keep[0], keep[1])
        }
        let typed = try await unlocking(code.lowercased().replacing("-", with: " ") + "\n")
        #expect(typed.status == 0, "\(typed.errors)")
        var mistyped = Array(code)
        mistyped[3] = mistyped[3] == "7" ? "8" : "7"
        #expect(try await unlocking(String(mistyped)).message.contains("typing error"))
        let other = try RecoveryCode.random().text
        let otherText = unsafe other.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(try await unlocking(otherText).message.contains("not one of this store"))
    }

    @Test("a rotation keeps every row and everything that opens the store, and says so to programs")
    func rotate() async throws {
        let rows = try await device.rows()
        let before = try await json("status")
        #expect(before["rotationDue"] as? Bool == false && before["rotationPending"] as? Bool == false)
        let answer = try await json("rotate")
        #expect(answer["rotated"] as? Bool == true)
        #expect(try await json("status")["revision"] as? Int == 3)
        #expect(try await device.rows() == rows)
    }

    @Test("removing what is not there or the only slot, and what is destructive without --yes, changes nothing")
    func refusals() async throws {
        let before = try device.contents()
        let missing = try await run("remove", "2", "--yes")
        #expect(missing.status == 1 && missing.message.contains("no slot 2"))
        // What opens the store now is the slot that is to go: nothing would be left.
        let only = try await run("remove", "1", "--yes")
        #expect(only.status == 1 && only.message.contains("No slot would be left"))
        for action in [["remove", "1"], ["destroy"]] {
            let result = try await ToolProcess.run(["keys"] + action + ["--store", device.path])
            #expect(result.status == 1 && result.message.contains("--yes"), "\(action)")
        }
        #expect(try device.contents() == before)
        let secrets = ["--passphrase-file", path("first")]
        for action in [["status"], ["recovery-code"], ["remove", "1"], ["rotate"], ["destroy", "--yes"]] {
            let nowhere = try await ToolProcess.run(["keys"] + action + secrets + ["--store", path("nowhere")])
            #expect(nowhere.status == 1 && nowhere.message.contains("no store"), "\(action)")
        }
    }

    @Test("destroy removes keys, database and secret, and says what it does not reach")
    func destroy() async throws {
        let result = try await run("destroy", "--yes")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("copies and backups"))
        #expect(try device.names() == [])
        let again = try await run("destroy", "--yes")
        #expect(again.status == 1)
    }

    @Test("on a terminal a passphrase is asked for and not shown", .enabled(if: Terminals.areAvailable))
    func prompt() async throws {
        let tool = try ToolProcess.executable.path
        let command = "'\(tool)' keys add-passphrase --store '\(device.path)'"
        let answers = [("New passphrase:", "typed in secret\n"), ("Once more:", "typed in secret\n")]
        let typed = try await Terminals.run(command, dialogue: answers)
        #expect(typed.status == 0, "\(typed.output)")
        #expect(typed.output.contains("New passphrase:"))
        #expect(!typed.output.contains("secret\r") && !typed.output.contains("typed in"), "\(typed.output)")
        #expect(try await slots() == ["secret-file", "passphrase-scrypt"])
        let different = try await Terminals.run(command, input: "typed in secret\nsomething else\n")
        #expect(different.status == 1 && different.output.contains("differ"))
        // Ctrl-C at the question ends the tool, and the terminal shows again what is typed.
        let interrupted = try await Terminals.run(
            "trap : INT; \(command); echo status $?; stty -a",
            dialogue: [("New passphrase:", "\u{3}")]
        )
        #expect(interrupted.output.contains("status 130"), "\(interrupted.output)")
        #expect(interrupted.output.contains(" echo ") && !interrupted.output.contains("-echo "))
        // Who changes a passphrase is asked for the old one, and told before typing that it is wrong.
        let wrong = try await Terminals.run(
            "'\(tool)' keys change-passphrase --store '\(device.path)'",
            dialogue: [("Passphrase:", "wrong\n")]
        )
        #expect(wrong.status == 1 && wrong.output.contains("the passphrase is wrong"), "\(wrong.output)")
        #expect(!wrong.output.contains("New passphrase"))
        let declined = try await Terminals.run("'\(tool)' keys destroy --store '\(device.path)'", input: "no\n")
        #expect(declined.status == 1 && declined.output.contains("Nothing was changed"))
        #expect(try await device.rows().count == 6)
    }
}
