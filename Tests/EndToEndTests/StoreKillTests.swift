import ChildProcesses
import Foundation
import SealedSync
import SeededNumbers
import Testing

@Suite("Store actions that are killed or interrupted")
struct StoreKillTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Kills an action at an instant that chance says, or when the file it works on appears.
    private func kill(_ arguments: [String], _ signal: Int32, watching path: String, _ random: inout SeededGenerator)
        async throws
    {
        let process = try ToolProcess.start(["store"] + arguments)
        let waitsForFile = Bool.random(using: &random)
        let deadline = ContinuousClock.now + .milliseconds(Int.random(in: 1...400, using: &random))
        try await looking {
            !process.isRunning
                || (waitsForFile ? FileManager.default.fileExists(atPath: path) : ContinuousClock.now >= deadline)
        }
        process.signal(signal)
        _ = await process.result()
    }

    @Test("whenever compact or upgrade dies, the store opens with every row", arguments: ["compact", "upgrade"])
    func rewriting(_ action: String) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let device = try await StoreDevice.make(folder.file("d"), rows: 1_000, bytesInRow: 5_000, deletesHalf: true)
        let before = try await device.rows()
        for _ in 0..<10 {
            try await kill([action, "--store", device.path], SIGKILL, watching: device.database.path + ".new", &random)
            let verified = try await device.run(["verify"])
            #expect(verified.status == 0, "seed \(seed): \(verified.output)")
        }
        #expect(try await device.rows() == before, "seed \(seed)")
        _ = try await device.json(action)
        #expect(try await device.rows() == before, "seed \(seed)")
        #expect(try device.names() == ["store.db", "store.db.lock", "store.keys", "store.secret"])
    }

    @Test("whenever backup dies, there is no backup or a whole one, and the next one succeeds")
    func backup() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let device = try await StoreDevice.make(folder.file("d"), rows: 500, bytesInRow: 5_000)
        let before = try await device.rows()
        for round in 0..<8 {
            let target = StoreDevice(folder.file("copy-\(round)"))
            try await kill(
                ["backup", target.path, "--store", device.path],
                SIGKILL,
                watching: target.path + ".new",
                &random
            )
            if !FileManager.default.fileExists(atPath: target.path) { _ = try await device.json("backup", target.path) }
            try FileManager.default.copyItem(at: device.secretFile, to: target.secretFile)
            #expect(try await target.rows() == before, "seed \(seed)")
            #expect(!FileManager.default.fileExists(atPath: target.path + ".new"), "seed \(seed)")
        }
        #expect(try await device.rows() == before, "seed \(seed)")
    }

    @Test("whenever export or encrypt dies, the file is not there or whole, and the next one succeeds")
    func exportAndEncrypt() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let device = try await StoreDevice.make(folder.file("d"), rows: 500, bytesInRow: 5_000)
        let before = try await device.rows()
        for round in 0..<6 {
            let plain = folder.file("plain-\(round)")
            let arguments = ["export", plain.path, "--plaintext-i-understand", "--store", device.path]
            try await kill(arguments, SIGKILL, watching: plain.path + ".new", &random)
            if !FileManager.default.fileExists(atPath: plain.path) {
                _ = try await device.json("export", plain.path, "--plaintext-i-understand")
            }
            let copy = StoreDevice(folder.file("copy-\(round)"))
            try await kill(
                ["encrypt", plain.path, "--store", copy.path],
                SIGKILL,
                watching: copy.database.path + ".new",
                &random
            )
            if !FileManager.default.fileExists(atPath: copy.database.path) {
                _ = try await copy.json("encrypt", plain.path)
            }
            #expect(try await copy.rows() == before, "seed \(seed)")
        }
    }

    @Test("whenever wipe dies, the store opens with every row, or cannot be opened any more and the next one finishes")
    func wipe() async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        var counts = (whole: 0, gone: 0)
        for round in 0..<10 {
            let device = try await StoreDevice.make(folder.file("d\(round)"))
            let before = try await device.rows()
            let process = try ToolProcess.start(["store", "wipe", "--yes", "--store", device.path])
            let watched = [device.folder.keyslotsURL, device.database].randomElement(using: &random)?.path ?? ""
            let deadline = ContinuousClock.now + .milliseconds(Int.random(in: 1...60, using: &random))
            let waitsForFile = Bool.random(using: &random)
            try await looking {
                !process.isRunning
                    || (waitsForFile
                        ? !FileManager.default.fileExists(atPath: watched) : ContinuousClock.now >= deadline)
            }
            process.signal(SIGKILL)
            _ = await process.result()
            let names = try device.names()
            if names.contains("store.keys"), try await device.run(["inspect"]).status == 0 {
                #expect(try await device.rows() == before, "seed \(seed)")
                counts.whole += 1
            } else {
                counts.gone += 1
            }
            if !names.isEmpty { _ = try await device.json("wipe", "--yes") }
            #expect(try device.names().isEmpty, "seed \(seed)")
        }
        print("\(counts.whole) whole, \(counts.gone) gone")
    }

    @Test("Ctrl-C ends an action in good order: nothing was changed, and it says so", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        let device = try await StoreDevice.make(folder.file("d"), rows: 3_000, bytesInRow: 10_000, deletesHalf: true)
        let before = try await device.rows()
        let size = try Data(contentsOf: device.database).count
        let process = try ToolProcess.start(["store", "compact", "--store", device.path])
        let temporary = device.database.path + ".new"
        try await looking { !process.isRunning || FileManager.default.fileExists(atPath: temporary) }
        process.signal(signal)
        let result = await process.result()
        let status = try #require(result.status, "not by the signal")
        let isCompacted = try Data(contentsOf: device.database).count < size
        if status == 0 {
            print("the action was faster than the signal")
            #expect(isCompacted)
        } else {
            #expect(status == 1 && result.errors.contains("nothing was changed"), "\(result.errors)")
            #expect(!isCompacted)
        }
        #expect(try device.names() == ["store.db", "store.db.lock", "store.keys", "store.secret"])
        #expect(try await device.rows() == before)
    }

    @Test("Ctrl-C during encrypt leaves no store, no keys and no folder")
    func interruptedEncrypt() async throws {
        let device = try await StoreDevice.make(folder.file("d"), rows: 3_000, bytesInRow: 10_000)
        let plain = folder.file("plain")
        _ = try await device.json("export", plain.path, "--plaintext-i-understand")
        let copy = StoreDevice(folder.file("copy"))
        let process = try ToolProcess.start(
            ["store", "encrypt", plain.path, "--store", copy.path],
        )
        let temporary = copy.database.path + ".new"
        try await looking { !process.isRunning || FileManager.default.fileExists(atPath: temporary) }
        process.signal(SIGINT)
        let status = try #require(await process.result().status, "not by the signal")
        if status == 0 {
            print("the action was faster than the signal")
            #expect(try await copy.json("verify")["sound"] as? Bool == true)
        } else {
            #expect(status == 1)
            #expect(!FileManager.default.fileExists(atPath: copy.path))
        }
    }
}
