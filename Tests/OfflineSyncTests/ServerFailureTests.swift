import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import SyncContract
import Testing

/// Whether a request changes a row.
private func isWrite(_ request: EmulatorRequest) -> Bool { request.method != "GET" }

/// A change of a kind: of the shared row, or a new row.
private func change(_ device: SyncWorld.Device, _ kind: TableOperation.Kind) async throws {
    switch kind {
    case .insert: try await device.table.insert(["text": "bread"], id: "b")
    case .update: try await device.table.update(Record(id: "a", ["text": "cream"]))
    case .delete: try await device.table.delete("a")
    }
}

@Suite("Failures of the server that leave the outcome open")
struct ServerFailureTests {
    private static let oops = EmulatorResponse.json(500, .object(["error": .string("disk full")]))

    @Test(
        "a change that was carried out in spite of a 500 is recognised by a look",
        arguments: DatasyncDialect.allCases,
        [TableOperation.Kind.insert, .update, .delete]
    )
    func carriedOut(_ dialect: DatasyncDialect, _ kind: TableOperation.Kind) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await change(laptop, kind)
            world.emulator.inject(.applyThenRespond(Self.oops, matching: isWrite))
            let first = try await laptop.context.push()
            #expect(first.pushed == 0 && first.conflicts.isEmpty && first.failures.count == 1)
            #expect(first.failures.first?.message.contains("disk full") == true)
            let writes = world.emulator.requests.count { isWrite($0.request) }
            let second = try await laptop.context.push()
            #expect(second.pushed == 1 && second.failures.isEmpty && second.conflicts.isEmpty)
            #expect(world.emulator.requests.count { isWrite($0.request) } == writes, "it was not sent again")
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test(
        "a change that was not carried out is sent again; the others went on",
        arguments: DatasyncDialect.allCases,
        [TableOperation.Kind.insert, .update, .delete]
    )
    func notCarriedOut(_ dialect: DatasyncDialect, _ kind: TableOperation.Kind) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await change(laptop, kind)
            try await laptop.table.insert(["text": "other"], id: "z")
            world.emulator.inject(.respond(Self.oops, matching: isWrite))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer()["z"] == "other")
            #expect(try await laptop.context.status().pending == 1)
            #expect(try await laptop.context.push().pushed == 1)
            #expect(try await laptop.context.operationErrors().isEmpty)
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("a row that somebody else has changed meanwhile is a conflict", arguments: DatasyncDialect.allCases)
    func lostRace(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            try await world.shareItem()
            let (phone, laptop) = (world.phone, world.laptop)
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(.respond(Self.oops, matching: isWrite))
            _ = try await laptop.context.push()
            try await phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await phone.context.push()
            let report = try await laptop.context.push()
            #expect(report.conflicts.first?.serverItem?["text"] == "theirs" && report.failures.isEmpty)
            #expect(world.onServer() == ["a": "theirs"])
        }
    }

    @Test("after five pushes with the same failure it is parked with the server's words, until it is retried or edited")
    func parked() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bread"], id: "b")
            world.emulator.inject(.respond(Self.oops, times: 99) { $0.method == "POST" })
            for push in 1...5 {
                #expect(try await laptop.context.status().pending == 1, "before push \(push)")
                #expect(try await laptop.context.push().failures.count == 1)
            }
            #expect(try await laptop.context.status().failed == 1)
            #expect(try await laptop.context.push().requests == 0)
            #expect(try await laptop.onlyError().message.contains("disk full"))

            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            #expect(try await laptop.context.push().requests > 0)
            #expect(try await laptop.context.status().pending == 1, "it is tried five times again")
            world.emulator.clearFaults()
            try await laptop.table.update(Record(id: "b", ["text": "brown bread"]))
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["b": "brown bread"])
        }
    }

    @Test("one that was parked is tried five times again when it is retried or edited", arguments: [true, false])
    func fiveTimesAgain(isEdited: Bool) async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bread"], id: "b")
            world.emulator.inject(.respond(Self.oops, times: 99) { $0.method == "POST" })
            for _ in 1...5 { _ = try await laptop.context.push() }
            #expect(try await laptop.context.status().failed == 1)
            if isEdited {
                try await laptop.table.update(Record(id: "b", ["text": "brown bread"]))
            } else {
                #expect(try await laptop.context.retryRefused() == 1)
            }
            for push in 1...5 {
                #expect(try await laptop.context.status().pending == 1, "before push \(push)")
                #expect(try await laptop.context.push().failures.count == 1)
            }
            #expect(try await laptop.context.status().failed == 1)
        }
    }

    @Test("other failures in between do not add up")
    func differentFailures() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bread"], id: "b")
            for round in 0..<8 {
                world.emulator.inject(.respond(EmulatorResponse(500 + round / 4)) { $0.method == "POST" })
                _ = try await laptop.context.push()
            }
            #expect(try await laptop.context.status().pending == 1)
            // To look the row up is something else than to write it.
            for method in ["GET", "POST"] {
                world.emulator.inject(.respond(EmulatorResponse(501), times: 4) { $0.method == method })
                for _ in 0..<(method == "GET" ? 4 : 3) { _ = try await laptop.context.push() }
            }
            #expect(try await laptop.context.status().pending == 1)
        }
    }

    @Test("a failure that is told in other words each time, such as with the time of day, is the same failure")
    func otherWords() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bread"], id: "b")
            for push in 1...5 {
                #expect(try await laptop.context.status().pending == 1, "before push \(push)")
                let words = JSONValue.object(["error": .string("\(push)")])
                world.emulator.inject(.respond(.json(500, words)) { $0.method == "POST" })
                #expect(try await laptop.context.push().failures.count == 1)
            }
            #expect(try await laptop.context.status().failed == 1)
            #expect(try await laptop.context.push().requests == 0)
            #expect(try await laptop.onlyError().message.contains("5"), "in the last words")
        }
    }

    @Test("a retried change keeps what was sent before: what was carried out late is its own")
    func keepSent() async throws {
        try await SyncWorld.with(.datasync) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            world.emulator.inject(.applyThenRespond(Self.oops, matching: isWrite))
            _ = try await laptop.context.push()
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            try await laptop.table.update(Record(id: "a", ["text": "mine 2"]))
            let report = try await laptop.context.push()
            #expect(report.pushed == 1 && report.conflicts.isEmpty)
            #expect(world.onServer() == ["a": "mine 2"])
        }
    }

    @Test("an answer of a gateway stops the push", arguments: [502, 504])
    func gateway(_ status: Int) async throws {
        try await SyncWorld.with(.datasync) { world in
            for id in ["a", "b"] { try await world.laptop.table.insert([:], id: id) }
            world.emulator.inject(.respond(EmulatorResponse(status)) { $0.method == "POST" })
            #expect(try await syncErrorCode { _ = try await world.laptop.context.push() } == .pushAbortedNetwork)
            #expect(try await world.laptop.context.status().pending == 2)
        }
    }

    @Test("a refused change is not sent again until it is edited")
    func refusedOnce() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "bad"], id: "a")
            world.emulator.inject(.respond(EmulatorResponse(400), times: 2) { $0.method == "POST" })
            #expect(try await laptop.context.push().failures.count == 1)
            #expect(try await laptop.context.push().requests == 0)
            #expect(try await laptop.pull().push == nil)
            world.emulator.clearFaults()
            try await laptop.table.update(Record(id: "a", ["text": "good"]))
            #expect(try await laptop.context.push().pushed == 1)
        }
    }

    @Test("a change that was to go over whatever the server has goes over it after a 500, too")
    func forced() async throws {
        let hidesRow = Switch()
        try await SyncWorld.with(
            .datasync,
            answeringLaptop: SyncWorld.StandIn { request, emulator in
                guard hidesRow.isOn else { return try await emulator.handle(request) }
                return EmulatorResponse(isWrite(request) ? 412 : 403)
            }
        ) { world in
            try await world.shareItem()
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            hidesRow.isOn = true
            _ = try await laptop.context.push()
            hidesRow.isOn = false
            // The server shows no row: mine is to go over it, whatever it is.
            try await laptop.context.resolve(try await laptop.onlyError(), with: .keepMine)
            world.emulator.inject(.respond(Self.oops, matching: isWrite))
            _ = try await laptop.context.push()
            #expect(try await laptop.context.push().pushed == 1)
            #expect(world.onServer() == ["a": "mine"])
        }
    }
}
