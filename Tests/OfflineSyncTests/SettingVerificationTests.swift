import ReferenceStore
import SyncContract
import Testing

@testable import OfflineSync

@Suite("Verifying the engine's settings")
struct SettingVerificationTests {
    /// What a kind of setting has to say.
    private struct Form {
        /// Part of what is found where it does not.
        let words: String
        var sound: [String: FieldValue] = [:]
        let broken: [[String: FieldValue]]

        static let noValue: [[String: FieldValue]] = [["value": .null], ["value": ""]]
        static let noKey: [[String: FieldValue]] = [["key": ""]]
    }

    /// A further kind wants its form here.
    private static func form(of kind: ConfigurationTable.KeyType) -> Form {
        switch kind {
        case .deltaToken: Form(words: "delta token", broken: Form.noValue)
        case .refetch: Form(words: "fetched again", sound: ["value": .null], broken: Form.noKey)
        case .highestRemovedNumber:
            Form(
                words: "the highest number that was used",
                sound: ["value": "1"],
                broken: Form.noValue + [["value": "0"], ["value": "x"]]
            )
        case .highestGroup:
            Form(
                words: "the highest number of a group",
                sound: ["value": "1"],
                broken: Form.noValue + [["value": "0"], ["value": "x"]]
            )
        case .shownColumns: Form(words: "has shown", sound: ["value": ""], broken: [["value": .null]])
        case .filledColumns: Form(words: "were filled", sound: ["value": ""], broken: [["value": .null]])
        case .itemMemory:
            Form(words: "remembered", sound: ["value": ""], broken: Form.noKey + [["value": .null]])
        case .droppedInsert: Form(words: "a dropped insert", broken: Form.noValue + Form.noKey)
        case .cancelledInsert: Form(words: "cancelled", sound: ["key": ""], broken: Form.noValue)
        case .journalEntry:
            Form(
                words: "an entry of the journal",
                sound: ["key": "1"],
                broken: Form.noValue + Form.noKey + [["key": "x"]]
            )
        case .sessionSuspension: Form(words: "of the session", sound: ["key": ""], broken: Form.noValue)
        case .firstPull:
            Form(words: "with which pull", sound: ["value": "-1"], broken: Form.noValue + [["value": "x"]])
        case .completePull:
            Form(words: "the time of the last pull", sound: ["value": "-1"], broken: Form.noValue + [["value": "x"]])
        case .reconciledParameters:
            Form(words: "parameters of a pull", sound: ["value": .null], broken: Form.noKey)
        case .setAside: Form(words: "without a reason", sound: ["value": ""], broken: [["value": .null]])
        case .purgedRow:
            Form(words: "a purged row", sound: ["value": " "], broken: Form.noValue + [["value": "x"]])
        case .serverID, .localID, .foldedID, .formerID:
            Form(words: "that the server has chosen", broken: Form.noValue + Form.noKey)
        case .stumblingBlocks: Form(words: "the last pushes have ended", sound: ["key": ""], broken: Form.noValue)
        case .reference: Form(words: "a reference", broken: Form.noValue + Form.noKey)
        case .localTable: Form(words: "stays on the device", sound: ["key": ""], broken: [["table": ""]])
        case .fileColumns: Form(words: "name files", sound: ["key": "", "value": ""], broken: [["value": .null]])
        case .localColumns:
            Form(words: "stay on the device", sound: ["key": "", "value": ""], broken: [["value": .null]])
        case .reset: Form(words: "where a reset is", sound: ["key": ""], broken: Form.noValue)
        case .freshRow: Form(words: "a fresh row", sound: ["value": .null], broken: Form.noKey)
        case .freshCursor: Form(words: "a cursor of fresh rows", sound: ["key": ""], broken: Form.noValue)
        case .discardedChange:
            Form(words: "that was given up", sound: ["key": "1"], broken: Form.noValue + Form.noKey + [["key": "x"]])
        }
    }

    private static let kinds = (Int64(0)..<10_000).compactMap { ConfigurationTable.KeyType(rawValue: $0) }

    @Test(
        "of each kind finds what lacks a value or a key of its form, and nothing in one that has them",
        arguments: kinds
    )
    func forms(_ kind: ConfigurationTable.KeyType) async throws {
        let form = Self.form(of: kind)
        let base: [String: FieldValue] = [
            "table": "TodoItem", "keyType": .int64(kind.rawValue), "key": "k", "value": "v", "query": "",
        ]
        let sound = base.merging(form.sound) { $1 }
        let store = try makeStore()
        try await store.upsert([Record(id: "s", sound)], table: SystemTables.configuration.name)
        #expect(try await store.verifyQueue().isEmpty)
        for broken in form.broken {
            let fields = sound.merging(broken) { $1 }
            try await store.upsert([Record(id: "s", fields)], table: SystemTables.configuration.name)
            let findings = try await store.verifyQueue()
            #expect(findings.map(\.kind) == [.inconsistentQueue], "\(broken)")
            #expect(findings.first?.message.contains(form.words) == true, "\(findings)")
        }
    }
}
