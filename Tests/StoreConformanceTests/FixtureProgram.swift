import Foundation

/// The built program of the kit's fixtures: a store author's own program.
struct FixtureProgram {
    struct Output {
        var status: Int32
        var text: String
        var errors: String

        func json() throws -> Report { try JSONDecoder().decode(Report.self, from: Data(text.utf8)) }
    }

    struct Report: Decodable {
        struct Entry: Decodable {
            var id: String
            var status: String
            var reason: String?
        }

        var subject: String
        var seed: UInt64
        var passed: Bool
        var results: [Entry]

        func status(of id: String) -> String? { results.first { $0.id == id }?.status }
    }

    static func run(_ arguments: [String]) throws -> Output {
        let folder =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
            ?? Bundle.main.bundleURL
        let process = Process()
        process.executableURL = folder.appendingPathComponent("conformance-fixture")
        process.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let errorText = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Output(
            status: process.terminationStatus,
            text: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errorText, as: UTF8.self)
        )
    }
}
