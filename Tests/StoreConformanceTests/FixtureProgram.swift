import ChildProcesses
import Foundation

/// The built program of the kit's fixtures: a store author's own program.
struct FixtureProgram {
    struct Output {
        var status: Int32?
        var text: String
        var errors: String

        func json() throws -> Report { try JSONDecoder().decode(Report.self, from: Data(text.utf8)) }
    }

    struct Report: Decodable {
        struct Entry: Decodable {
            var id: String
            var status: String
            var reason: String?
            var slow: Bool?
        }

        var subject: String
        var seed: UInt64
        var passed: Bool
        var results: [Entry]

        func status(of id: String) -> String? { results.first { $0.id == id }?.status }
    }

    static func run(_ arguments: [String]) async throws -> Output {
        let result = try await ChildProcess.run(.init(ChildProcess.built("conformance-fixture"), arguments))
        return Output(status: result.status, text: result.output, errors: result.errors)
    }
}
