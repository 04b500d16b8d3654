import DatasyncEmulator
import EmulatorTransport
import Foundation
import SealedSync
import Testing

@Suite("Stores that earlier versions have made")
struct StoredFixtureTests {
    @Test("are there, and hold what they are to show")
    func fixtures() throws {
        #expect(try FixtureGeneration.all.count >= 2)
        for generation in try FixtureGeneration.all {
            let killed = generation.url.appending(path: "killed/store.db-wal")
            #expect(try Data(contentsOf: killed).count > 10_000, "\(generation.name): commits in the log")
        }
        for fixture in try StoredFixture.all {
            let description = try fixture.description
            #expect(try #require(description.operations.array).count >= 14, "\(fixture)")
            #expect(try #require(description.operationErrors.array).count == 7, "\(fixture)")
            #expect(try #require(description.rows["MS_TableConfig"]?.object).count == 5, "\(fixture)")
            #expect(try #require(description.searches["ЧАЙ мол"]?.array).count >= 2, "\(fixture)")
        }
    }

    @Test(
        "are opened with every secret, and nothing is lost: rows, changes, what the server said, delta tokens",
        arguments: try await StoredFixture.all(areReadable: true)
    )
    func opening(_ fixture: StoredFixture) async throws {
        for secret in FixtureSecret.allCases {
            let copy = try FixtureCopy(fixture)
            try await copy.expect(fixture, secret)
            let keyslots = try await KeyslotFile.read(at: copy.folder.keyslotsURL)
            #expect(!keyslots.isRotationPending, "\(secret)")
            #expect(keyslots.slots.count == FixtureSecret.allCases.count, "\(secret)")
        }
    }

    @Test(
        "are vouched for by their keyslot files, as their headers name no key: a damaged first page is damage",
        arguments: try await StoredFixture.all(areReadable: true).filter { [.closed, .killed].contains($0.store) }
    )
    func damagedFirstPage(_ fixture: StoredFixture) async throws {
        let copy = try FixtureCopy(fixture)
        var database = try Data(contentsOf: copy.folder.databaseURL)
        #expect(database[7] & 0x80 == 0)
        database[2_000] ^= 1
        try database.write(to: copy.folder.databaseURL)
        let error = await #expect(throws: StoreError.self) { try await copy.withStore { _ in } }
        #expect(error?.code == .damaged)
    }

    @Test(
        "are sound, and stay so with all they hold when they are compacted, upgraded and given another key",
        arguments: try await StoredFixture.all(areReadable: true)
    )
    func maintenance(_ fixture: StoredFixture) async throws {
        let copy = try FixtureCopy(fixture)
        let file = StoreFile(copy.folder.databaseURL, keyIsVerified: true)
        var keyring = try await copy.keyring()
        try await copy.expectSound(keyring, "as it was")
        try await file.compact(key: keyring.dataKey)
        try await copy.expectSound(keyring, "compacted")
        try await copy.expect(fixture)
        try await file.upgrade(key: keyring.dataKey)
        try await copy.expectSound(keyring, "upgraded")
        try await copy.expect(fixture)
        keyring = try await copy.folder.rotateDataKey(FixtureSecret.keyService.unlocker(in: copy.secrets))
        try await copy.expectSound(keyring, "under another key")
        for secret in FixtureSecret.allCases { try await copy.expect(fixture, secret) }
    }

    @Test(
        "send what waits: every change arrives at the server",
        arguments: try await StoredFixture.all(areReadable: true)
    )
    func pushing(_ fixture: StoredFixture) async throws {
        let description = try fixture.description
        let emulator = Emulator(EmulatorConfiguration(tables: ["Paper", "Label"]))
        for (table, rows) in description.server.object ?? [:] {
            try emulator.seed((rows.array ?? []).compactMap(\.object), in: table)
        }
        try await FixtureCopy(fixture)
            .withStore { store in
                let context = SyncContext(store: store, remote: try FixtureStory.remote(emulator))
                // One of them meets a row that is newer than the one it was in conflict with.
                for _ in 1...2 {
                    for conflict in try await context.push().conflicts {
                        try await context.resolve(conflict, with: .keepMine)
                    }
                }
                let report = try await context.push()
                #expect(report.conflicts.isEmpty && report.failures.isEmpty)
                #expect(try await context.operations().isEmpty)
            }
        for operation in description.operations.array ?? [] {
            let (table, id) = (operation["table"]?.string ?? "", operation["itemID"]?.string ?? "")
            #expect(description.arrived[table]?[id]?.object != nil, "what arrives of '\(id)' is written down")
        }
        for (table, rows) in description.arrived.object ?? [:] {
            let served = emulator.rows(in: table)
            for (id, members) in rows.object ?? [:] {
                let row = served.first { $0["id"] == .string(id) }
                for (name, value) in members.object ?? [:] {
                    // What was written down has dates in the zone that they were given in; they are sent in UTC.
                    let sent = value.string.flatMap { Timestamp($0) }
                        .flatMap { $0.finerText == nil ? nil : $0.wireText }
                    #expect(row?[name] == sent.map(JSONValue.string) ?? value, "'\(name)' of '\(id)' in '\(table)'")
                }
            }
        }
    }

    @Test(
        "made under SQLCipher 4 are refused under 3 with the remedy, and stay as they were, byte for byte",
        arguments: try await StoredFixture.all(areReadable: false)
    )
    func refusal(_ fixture: StoredFixture) async throws {
        for secret in FixtureSecret.allCases {
            let copy = try FixtureCopy(fixture)
            let before = try copy.contents()
            do {
                try await copy.withStore(secret) { _ -> Void in Issue.record("\(fixture) was opened") }
            } catch let error as StoreError {
                #expect(error.code == .unsupportedFormat, "\(secret)")
                #expect(error.message.contains("link SQLCipher 4"), "\(secret)")
            }
            #expect(try copy.contents() == before, "\(secret)")
        }
    }
}
