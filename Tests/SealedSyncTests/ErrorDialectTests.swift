import DatasyncEmulator
import Foundation
import RecordJSON
import SealedSync
import Testing

@Suite("Errors of every module")
struct ErrorDialectTests {
    private struct Underlying: Error, CustomStringConvertible {
        var description: String { "underneath" }
    }

    private static let errors: [(error: any LocalizedError & CustomStringConvertible, description: String)] = [
        (StoreError(.full, "Make room.", cause: Underlying()), "full: Make room. (underneath)"),
        (KeyError(.inputOutput, "Make room.", cause: Underlying()), "inputOutput: Make room. (underneath)"),
        (
            RemoteError(.refused, "Make room.", status: 403, cause: Underlying()),
            "refused (HTTP 403): Make room. (underneath)"
        ),
        (
            TransportError(.closed, "Make room.", fate: .notSent, cause: Underlying()),
            "closed: Make room. (underneath)"
        ),
    ]

    @Test("show code, message and cause to programmers, and the message to people", arguments: errors.indices)
    func dialect(index: Int) {
        let (error, description) = Self.errors[index]
        #expect("\(error)" == description)
        #expect((error as any Error).localizedDescription == "Make room.")
    }

    @Test("that only the package makes speak to people as well")
    func made() async throws {
        let secret = try #require(throws: SecretMemoryError.self) { try SecretBytes.random(count: -1) }
        #expect((secret as any Error).localizedDescription == secret.message)
        let coding = try #require(throws: RecordCodingError.self) {
            try RecordCoding(TableDefinition("t", columns: [])).record(from: #require(JSONText("[]")))
        }
        #expect((coding as any Error).localizedDescription == coding.message)
        let emulator = try #require(throws: EmulatorError.self) {
            try Emulator(EmulatorConfiguration(tables: [])).seed([["id": "a"]], in: "absent")
        }
        #expect((emulator as any Error).localizedDescription == emulator.message)
        let item = try #require(throws: SyncError.self) { try ItemID.validate("") }
        #expect((item as any Error).localizedDescription == item.message && item.message.hasSuffix("."))
    }
}
