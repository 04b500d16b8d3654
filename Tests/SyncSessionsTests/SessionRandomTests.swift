import DatasyncEmulator
import Foundation
import OfflineSync
import SeededNumbers
import SyncContract
import Synchronization
import Testing
import VirtualTime

@testable import SyncSessions

/// Whole sessions, with a store, a server and a line that fails: random things happen to them. Each row's text is a number
/// that rises with each edit, so that it can be told what a wait has waited for.
@Suite("A session under random events", .timeLimit(.minutes(10)))
struct SessionRandomTests {
    private static let directions: [SyncDirection] = [.upload, .download, .both]

    private final class World: Sendable {
        let emulator: Emulator
        let device: SessionDevice
        let deleted = Mutex<Set<String>>([])
        private let failures = Mutex(0)

        init(_ emulator: Emulator, _ device: SessionDevice) { (self.emulator, self.device) = (emulator, device) }

        /// What a failing server answers: five times would be too often for a change, which is laid aside then.
        func failure() -> Line.Fate {
            failures.withLock { failures in
                failures += 1
                return failures < 5 ? .status(500) : .answered
            }
        }

        /// Waits, and looks whether what was waited for is so.
        func wait(_ direction: SyncDirection, _ timeout: Duration?, _ numbers: [String: Int], _ others: Int) async {
            do {
                try await device.session.wait(for: direction, timeout: timeout)
                if direction.contains(.upload) {
                    let rows = emulator.rows(in: "TodoItem")
                    for (id, number) in numbers where !deleted.withLock({ $0.contains(id) }) {
                        let there = rows.first { $0["id"]?.string == id }?["text"]?.string.flatMap { Int($0) }
                        #expect(there ?? -1 >= number, "edit \(number) of \(id), made before the wait: \(there ?? -1)")
                    }
                }
                if direction.contains(.download) {
                    for number in 0..<others {
                        let row = try await device.table.read("other \(number)")
                        #expect(row != nil, "what the server had at the call is here")
                    }
                }
            } catch let error as SyncError {
                #expect(error.code == .sessionEnded || error.code == .timedOut && timeout != nil, "\(error)")
            } catch {
                Issue.record("\(error)")
            }
        }

        func follow(_ direction: SyncDirection, _ mode: SyncSession.ProgressMode) async {
            var last = 0.0
            for await value in device.session.progress(for: direction, mode: mode) {
                #expect((0...1).contains(value.progressEstimate) && last < 1 || mode == .reportIndefinitely)
                if mode == .forCurrentlyOutstandingWork { #expect(value.progressEstimate >= last) }
                last = value.progressEstimate
            }
        }
    }

    private static func fate(_ generator: inout SeededGenerator) -> Line.Fate {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: .unreachable
        case 1: .status(503)
        case 2: .status(503, headers: ["Retry-After": "5"])
        case 3: .status(401)
        default: .answered
        }
    }

    @Test("sends nothing while suspended, its waits end and say the truth, progress never falls, and nothing is lost")
    func random() async throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<SeededGenerator.rounds(50, all: 2_000) { try await round(&generator) }
    }

    private func round(_ generator: inout SeededGenerator) async throws {
        let emulator = SessionDevice.emulator()
        let device = try SessionDevice(emulator)
        let (session, world) = (device.session, World(emulator, device))
        let options = SessionOptions(pullInterval: .seconds(60))
        session.start(keeping: [device.table], options: options)
        var (numbers, others): ([String: Int], Int) = ([:], 0)
        var tasks: [Task<Void, Never>] = []
        var suspendedAt: Int?
        for step in 0..<80 {
            let direction = Self.directions.randomElement(using: &generator) ?? .both
            switch Int.random(in: 0..<24, using: &generator) {
            case 0...3:
                try await device.add("\(step)", id: "row \(step)")
                numbers["row \(step)"] = step
            case 4, 5:
                guard let id = numbers.keys.sorted().randomElement(using: &generator) else { continue }
                try await device.table.update(Record(id: .string(id), ["text": .string("\(step)")]))
                numbers[id] = step
            case 6:
                guard let id = numbers.keys.sorted().randomElement(using: &generator) else { continue }
                numbers[id] = nil
                world.deleted.withLock { _ = $0.insert(id) }
                try await device.table.delete(id)
            case 7:
                let row: [String: JSONValue] = [
                    "id": .string("other \(others)"), "text": "0", "complete": .bool(false),
                ]
                try emulator.seed([row], in: "TodoItem")
                others += 1
            case 8, 9:
                session.suspend(direction)
                guard session.state == .suspended else { break }
                await session.workEnds()
                suspendedAt = suspendedAt ?? device.line.requests.count
            case 10...12:
                if let suspendedAt { #expect(device.line.requests.count == suspendedAt, "suspended sends nothing") }
                suspendedAt = nil
                session.resume(direction)
            case 13: session.serverChanged()
            case 14: session.sync(direction)
            case 15: device.line.set(Self.fate(&generator))
            case 16: device.line.set { _ in world.failure() }
            case 17: device.reachability.change(to: Bool.random(using: &generator))
            case 18: tasks.append(Task { _ = await session.reconnect() })
            case 19, 20:
                let timeout: Duration? = Bool.random(using: &generator) ? nil : .seconds(5)
                tasks.append(Task { [numbers, others] in await world.wait(direction, timeout, numbers, others) })
            case 21:
                let isFinite = Bool.random(using: &generator)
                tasks.append(
                    Task {
                        await world.follow(direction, isFinite ? .forCurrentlyOutstandingWork : .reportIndefinitely)
                    }
                )
            default: device.clock.advance(by: .milliseconds(Int.random(in: 0..<10_000, using: &generator)))
            }
            for _ in 0..<Int.random(in: 0..<20, using: &generator) { await Task.yield() }
        }
        device.line.set(.answered)
        session.resume()
        session.start(keeping: [device.table], options: options)
        // The first one may find an attempt under way that fails yet.
        for _ in 0..<2 { _ = await session.reconnect() }
        try await session.wait(for: .both)
        let there = emulator.rows(in: "TodoItem").filter { $0["deleted"] != .bool(true) }
        let texts = there.filter { $0["id"]?.string?.hasPrefix("row") ?? false }
            .map { ($0["id"]?.string ?? "", $0["text"]?.string ?? "") }
        #expect(Dictionary(uniqueKeysWithValues: texts) == numbers.mapValues { "\($0)" })
        #expect(try await device.table.read(device.table.query).records.count == there.count)
        await session.close()
        for task in tasks { await task.value }
        #expect(session.running.withLock { $0.waiters.isEmpty && $0.watchers.isEmpty && $0.afterWork.isEmpty })
    }
}
