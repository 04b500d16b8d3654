import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Synchronization
import Testing

@Suite("Groups of rows that get their ids from the server")
struct AssignedGroupTests {
    @Test("are sent whatever their order, each row after those that it refers to", arguments: DatasyncDialect.allCases)
    func anyOrder(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.context.write { [lists = phone.lists, tasks = phone.tasks] transaction in
                try transaction.insert(["text": "milk", "list": "l"], id: "t", into: tasks)
                try transaction.insert(["text": "shopping"], id: "l", into: lists)
            }
            #expect(try await phone.context.push().pushed == 2)
            try await phone.context.write { [lists = phone.lists, tasks = phone.tasks] transaction in
                try transaction.insert(["text": "hammer"], id: "u", into: tasks)
                try transaction.insert(["text": "tools"], id: "m", into: lists)
                try transaction.update(Record(id: "u", ["list": "m"]), in: tasks)
            }
            #expect(try await phone.context.push().pushed == 2)
            #expect(try await phone.context.operations().isEmpty)
            try await world.laptop.pullAll()
            #expect(try await world.laptop.told() == ["shopping: milk", "tools: hammer"])
        }
    }

    @Test("that refer to each other in a circle are refused, and the push says so", arguments: DatasyncDialect.allCases)
    func circle(_ dialect: DatasyncDialect) async throws {
        try await AssignedIDWorld.with(dialect) { world in
            let phone = world.phone
            try await phone.context.write { [lists = phone.lists, tasks = phone.tasks] transaction in
                try transaction.insert(["text": "milk", "list": "l"], id: "t", into: tasks)
                try transaction.insert(["text": "shopping", "first": "t"], id: "l", into: lists)
            }
            let report = try await phone.context.push()
            #expect(report.pushed == 0 && !report.failures.isEmpty)
            try await phone.lists.update(Record(id: "l", ["first": .null]))
            try await phone.context.retryRefused()
            #expect(try await phone.context.push().pushed == 2)
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    /// Takes one reference out of a row that is in a circle of those that wait for ids, or asks for another try.
    private final class CircleDelegate: SyncContextDelegate {
        let clears: Bool
        private let asked = Mutex(0)
        var questions: Int { asked.withLock { $0 } }

        init(clears: Bool) { self.clears = clears }

        func syncContext(
            _ context: SyncContext,
            resolve error: TableOperationError<Record>
        ) async throws -> ConflictResolution<Record>? {
            asked.withLock { $0 += 1 }
            guard clears else { return .keepMine }
            return .keepMerged(Record(id: .string(error.itemID), [error.table == "Tasks" ? "list" : "first": .null]))
        }
    }

    private static func writeCircle(_ device: AssignedIDWorld.Device) async throws {
        try await device.context.write { [lists = device.lists, tasks = device.tasks] transaction in
            try transaction.insert(["text": "milk", "list": "l", "complete": false], id: "t", into: tasks)
            try transaction.insert(["text": "shopping", "first": "t"], id: "l", into: lists)
        }
    }

    @Test("of rows in a circle one is decided about, and the others go behind it")
    func circleDecidedAbout() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let delegate = CircleDelegate(clears: true)
            phone.context.delegate = delegate
            try await Self.writeCircle(phone)
            let report = try await phone.context.push()
            #expect(report.pushed == 2 && report.notTaken.isEmpty && delegate.questions == 1)
            #expect(try await phone.context.operations().isEmpty)
        }
    }

    @Test("rows in a circle that are to be tried again are told all the same")
    func circleTriedAgain() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let delegate = CircleDelegate(clears: false)
            phone.context.delegate = delegate
            try await Self.writeCircle(phone)
            let report = try await phone.context.push()
            #expect(report.pushed == 0 && report.failures.count + report.waiting == 2)
            #expect(delegate.questions <= 10)
            try await phone.lists.update(Record(id: "l", ["first": .null]))
            try await phone.context.retryRefused()
            #expect(try await phone.context.push().pushed == 2)
        }
    }

    @Test("a deletion that waits for a part of a group is sent, although that waits for an id which comes after it")
    func circleThroughAnID() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let (lists, tasks) = (phone.lists, phone.tasks)
            try await lists.insert(["text": "old"], id: "l")
            for id in ["t", "u"] {
                try await tasks.insert(["text": .string(id), "list": "l", "complete": false], id: id)
            }
            #expect(try await phone.context.push().pushed == 3)
            try await phone.context.write { tx in
                try tx.update(Record(id: "l", ["text": "older"]), in: lists)
                try tx.insert(["text": "new"], id: "m", into: lists)
            }
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "PUT" })
            let refusal = try #require(try await phone.context.push().failures.first)
            try await phone.context.write { tx in
                try tx.update(Record(id: "t", ["text": "changed"]), in: tasks)
                try tx.delete("u", from: tasks)
            }
            try await phone.context.write { tx in
                try tx.insert(["text": "of the new one", "list": "m", "complete": false], id: "x", into: tasks)
                try tx.delete("t", from: tasks)
                try tx.insert(["text": "another", "complete": false], id: "y", into: tasks)
            }
            try await phone.context.resolve(refusal, with: .deleteInstead)
            let report = try await phone.context.push()
            #expect(report.notTaken.isEmpty && report.waiting == 0)
            #expect(try await phone.context.operations().map(\.itemID) == [])
            #expect(world.toldByServer() == ["new: of the new one", "none: another"])
        }
    }

    @Test("and beside them: rows in no group wait for an id, and nothing waits for itself through them")
    func circleThroughASingle() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let (lists, tasks) = (phone.lists, phone.tasks)
            for id in ["l", "k"] { try await lists.insert(["text": .string(id)], id: id) }
            for (id, list) in [("p", "l"), ("s", "k")] {
                try await tasks.insert(["text": .string(id), "list": .string(list), "complete": false], id: id)
            }
            #expect(try await phone.context.push().pushed == 4)
            try await lists.update(Record(id: "l", ["text": "changed"]))
            try await phone.context.write { tx in
                try tx.delete("l", from: lists)
                try tx.insert(["text": "m"], id: "m", into: lists)
            }
            try await tasks.update(Record(id: "s", ["list": "m"]))
            try await phone.context.write { tx in
                try tx.delete("k", from: lists)
                try tx.update(Record(id: "p", ["list": .null]), in: tasks)
            }
            let report = try await phone.context.push()
            #expect(report.notTaken.isEmpty && report.waiting == 0)
            #expect(try await phone.context.operations().map(\.itemID) == [])
            #expect(world.toldByServer() == ["m: s", "none: p"])
        }
    }

    @Test("what waits for an id in the place of another one leaves nothing behind that stands between them")
    func waitingInThePlaceOfAnother() async throws {
        try await AssignedIDWorld.with { world in
            let phone = world.phone
            let (lists, tasks) = (phone.lists, phone.tasks)
            try await tasks.insert(["text": "refused", "complete": false], id: "x")
            world.emulator.inject(.respond(EmulatorResponse(422), times: 1) { $0.method == "POST" })
            let refusal = try #require(try await phone.context.push().failures.first)
            for id in ["t", "u", "v"] {
                try await tasks.insert(["text": .string(id), "complete": false], id: id)
            }
            try await lists.insert(["text": "m", "first": "x"], id: "m")
            try await tasks.update(Record(id: "t", ["list": "m"]))
            let report = try await phone.context.push()
            #expect(report.pushed == 2 && report.waiting == 2)
            #expect(world.textsOnServer("Tasks") == ["u", "v"])
            // What waits is not counted any more when it was given up.
            try await phone.context.resolve(refusal, with: .discard)
            for operation in try await phone.context.operations() { try await phone.context.discard(operation) }
            #expect(try await phone.context.push().waiting == 0)
        }
    }
}
