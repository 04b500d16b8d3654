import ChildProcesses
import DatasyncEmulator
import Foundation
import SeededNumbers
import Synchronization
import Testing

/// Two devices, as processes of the tool, behind a network that loses requests and answers. One of them is killed again and
/// again while it changes and syncs; the other one changes the same server meanwhile.
@Suite("A lossy network and processes that are killed", .timeLimit(.minutes(5)))
struct LossyKillTests {
    /// What a device has been told that it may rely on, for each item: the texts that it may have in the end. Nil is deleted.
    private struct Promises {
        private(set) var texts: [String: Set<String?>] = [:]

        /// The items that are certainly there.
        var items: [String] { texts.filter { !$0.value.contains(nil) }.keys.sorted() }

        /// A change of which the process has said, by its exit status, that it is done; or has died before it could.
        mutating func add(_ id: String, _ text: String?, isAcknowledged: Bool) {
            if isAcknowledged { texts[id] = [text] } else { texts[id, default: [nil]].insert(text) }
        }
    }

    private struct Player {
        let name: String
        let device: Device
        var promises = Promises()
        var edits = 0
        var killed = 0

        /// Runs an action that dies at an instant that chance says, or not at all.
        mutating func run(
            _ arguments: [String],
            dyingAfter delay: Duration?,
            or isTime: () -> Bool = { false }
        ) async throws -> ChildProcess.Result {
            let process = try ToolProcess.start(["todo"] + arguments + ["--store", device.folder.path])
            if let delay {
                let deadline = ContinuousClock.now + delay
                try await looking { !process.isRunning || ContinuousClock.now >= deadline || isTime() }
                process.signal(SIGKILL)
            }
            let result = await process.result()
            if result.status == nil {
                killed += 1
            } else if delay == nil {
                #expect(result.status == 0, "\(result.errors)")
            }
            return result
        }

        /// Changes something, and writes down what was promised.
        mutating func change(_ shared: [String], dyingAfter delay: Duration?, _ random: inout SeededGenerator)
            async throws
        {
            edits += 1
            let text = "\(name)\(edits)"
            let own = promises.items.filter { $0.hasPrefix(name) }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                let result = try await run(["add", text, "--id", "\(name)-\(edits)"], dyingAfter: delay)
                promises.add("\(name)-\(edits)", text, isAcknowledged: result.status == 0)
            case 3..<6:
                guard let id = shared.randomElement(using: &random) else { return }
                let result = try await run(["edit", id, text], dyingAfter: delay)
                promises.add(id, text, isAcknowledged: result.status == 0)
            case 6..<9:
                guard let id = own.randomElement(using: &random) else { return }
                let result = try await run(["edit", id, text], dyingAfter: delay)
                promises.add(id, text, isAcknowledged: result.status == 0)
            default:
                guard let id = own.randomElement(using: &random) else { return }
                let result = try await run(["delete", id], dyingAfter: delay)
                promises.add(id, nil, isAcknowledged: result.status == 0)
            }
        }

        /// Settles every conflict, and expects no refusal: the server takes everything.
        func settle(_ choice: String) async throws {
            let answer = try await device.json("conflicts")
            #expect((answer["failures"] as? [Any])?.isEmpty == true, "\(answer)")
            for conflict in try #require(answer["conflicts"] as? [[String: Any]]) {
                try await device.json("resolve", try #require(conflict["id"] as? String), choice)
            }
        }
    }

    private static let behaviours: [LossyProxy.Behaviour] = [
        .pass, .pass, .pass, .dropRequest, .dropResponse, .cutResponse,
    ]

    @Test("everything that was acknowledged is on both devices and on the server in the end", arguments: [3, 2])
    func play(_ protocolNumber: Int) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed &+ UInt64(protocolNumber))
        let folder = try TemporaryFolder()
        let dialect = protocolNumber == 3 ? EmulatorConfiguration.Dialect.datasync : .azureMobileApps
        let server = EmulatorServer(EmulatorConfiguration(dialect: dialect, tables: ["TodoItem"]))
        let proxy = LossyProxy(upstream: try #require(try await server.start().port.flatMap { UInt16(exactly: $0) }))
        let address = try proxy.start().absoluteString
        defer { proxy.stop() }
        let isLossy = Atomic(false)
        for _ in 0..<2_000 {
            proxy.next(Self.behaviours.randomElement(using: &random) ?? .pass) { _ in isLossy.value }
        }
        var (phone, laptop) = (
            Player(
                name: "phone",
                device: try await .make("p", in: folder, server: address, protocolNumber: protocolNumber)
            ),
            Player(
                name: "laptop",
                device: try await .make("l", in: folder, server: address, protocolNumber: protocolNumber)
            )
        )
        let laptopDevice = laptop.device
        let shared = ["s0", "s1"]
        for id in shared { phone.promises.add(id, try await phone.device.add(id, id: id), isAcknowledged: true) }
        try await phone.device.json("sync")
        try await laptop.device.json("sync")

        isLossy.value = true
        for _ in 0..<SeededGenerator.rounds(8, all: 60) {
            for _ in 0..<3 {
                let delay: Duration? =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? .milliseconds(Int.random(in: 0...60, using: &random)) : nil
                try await phone.change(shared, dyingAfter: delay, &random)
            }
            for _ in 0..<2 { try await laptop.change(shared, dyingAfter: nil, &random) }
            // While the one syncs and dies, the other one does as well.
            let requests = proxy.requestCount + Int.random(in: 1...8, using: &random)
            let delay = Duration.milliseconds(Int.random(in: 20...250, using: &random))
            async let other = laptopDevice.run(["sync"])
            _ = try await phone.run(["sync"], dyingAfter: delay) { proxy.requestCount >= requests }
            let status = try await other.status
            #expect(status == 0 || status == 1, "seed \(seed)")
            if Bool.random(using: &random) { try await laptop.settle("--take-server") }
            if Bool.random(using: &random) { try await phone.settle("--keep-mine") }
        }
        isLossy.value = false
        #expect(phone.killed > 0, "seed \(seed)")

        try await finish(phone, laptop)
        let texts = try await phone.device.texts()
        #expect(try await laptop.device.texts() == texts, "seed \(seed)")
        #expect(onServer(server) == texts, "seed \(seed)")
        let ids = Set(phone.promises.texts.keys).union(laptop.promises.texts.keys).union(shared)
        for id in ids {
            // Of an item that both change, the last change of one of them is left.
            let possible = Set([phone, laptop].flatMap { Array($0.promises.texts[id] ?? []) })
            #expect(possible.isEmpty || possible.contains(texts[id]), "seed \(seed): \(id), \(possible)")
        }
        #expect(Set(texts.keys).isSubset(of: ids), "seed \(seed)")
        for player in [phone, laptop] {
            #expect(try await ToolProcess.run(["store", "verify", "--store", player.device.folder.path]).status == 0)
        }
        await server.stop()
    }

    /// Syncs over a network that works until nothing waits and nothing is left to settle.
    private func finish(_ phone: Player, _ laptop: Player) async throws {
        for _ in 0..<6 {
            for (player, choice) in [(phone, "--keep-mine"), (laptop, "--take-server")] {
                try await player.device.json("sync")
                try await player.settle(choice)
                try await player.device.json("sync")
            }
        }
        for player in [phone, laptop] {
            let status = try await player.device.json("status")
            for name in ["pending", "conflicts", "failed"] {
                #expect(status[name] as? Int == 0, "\(player.name), \(name)")
            }
        }
    }

    /// The texts of the rows that are not deleted, by id.
    private func onServer(_ server: EmulatorServer) -> [String: String] {
        let rows = server.emulator.rows(in: "TodoItem").filter { $0["deleted"] != .bool(true) }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") })
    }

    /// A truth value that other threads read.
    private final class Atomic: Sendable {
        private let state: Mutex<Bool>

        init(_ value: Bool) { state = Mutex(value) }

        var value: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }
}
