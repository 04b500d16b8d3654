package import Foundation
internal import Synchronization

/// A program that a test has started.
///
/// Both of its outputs are collected as they come, on one thread of its own, so that no thread of the cooperative pool
/// waits. It inherits no descriptor but its three streams, and blocks no signal. It does not outlive its test: it is
/// killed with what it has started when the task that waits for it is cancelled, or when nobody holds this any more.
package final class ChildProcess: Sendable {
    /// What a program is started with.
    package struct Command: Sendable {
        /// What there is on standard input.
        package enum Input: Sendable {
            case nothing
            /// A text of any size, of which the program may take as little as it likes.
            case text(String)
            /// What ``ChildProcess/type(_:)`` says.
            case typed
        }

        package var executable: URL
        package var arguments: [String] = []
        /// The whole environment; nil for that of this process.
        package var environment: [String: String]?
        /// Where the program runs; nil for where this process runs.
        package var folder: URL?
        package var input = Input.nothing

        /// - Parameters:
        ///   - executable: The file to start.
        ///   - arguments: What follows its name.
        ///   - environment: The whole environment; nil for that of this process.
        ///   - folder: Where the program runs; nil for where this process runs.
        ///   - input: What there is on standard input.
        package init(
            _ executable: URL,
            _ arguments: [String] = [],
            environment: [String: String]? = nil,
            folder: URL? = nil,
            input: Input = .nothing
        ) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
            self.folder = folder
            self.input = input
        }

        /// A program that is looked for in `PATH`.
        package static func named(
            _ name: String,
            _ arguments: [String] = [],
            environment: [String: String]? = nil,
            folder: URL? = nil,
            input: Input = .nothing
        ) -> Command {
            let env = URL(filePath: "/usr/bin/env")
            return Command(env, [name] + arguments, environment: environment, folder: folder, input: input)
        }
    }

    /// How a program ended.
    package enum Ending: Sendable, Hashable {
        case exit(status: Int32)
        case signal(Int32)
    }

    /// What is left of a program.
    package struct Result: Sendable {
        package var ending: Ending
        package var outputBytes: [UInt8]
        package var errorBytes: [UInt8]

        /// The exit status; nil when a signal ended the program.
        package var status: Int32? { if case .exit(let status) = ending { status } else { nil } }

        package var output: String { String(decoding: outputBytes, as: UTF8.self) }

        package var errors: String { String(decoding: errorBytes, as: UTF8.self) }
    }

    /// A program could not be started, or typed to.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private let spawned: SpawnedProgram
    private let record: ChildRecord

    /// Starts a program.
    ///
    /// - Throws: ``Failure`` when the system cannot start it. How it ends is never an error.
    package init(_ command: Command) throws {
        let spawned = try SpawnedProgram(command)
        let record = ChildRecord(spawned.identifier)
        (self.spawned, self.record) = (spawned, record)
        Thread.detachNewThread {
            spawned.exchange { record.append($0, $1) }
            record.waitForEnd()
        }
    }

    deinit { record.signal(SIGKILL, everything: true) }

    /// Runs a program to its end.
    ///
    /// - Throws: ``Failure`` when the system cannot start it, and `CancellationError`. How it ends is never an error.
    package static func run(_ command: Command) async throws -> Result {
        let result = try await ChildProcess(command).result()
        try Task.checkCancellation()
        return result
    }

    /// Whether the program has not ended yet.
    package var isRunning: Bool { record.isRunning }

    /// Sends a signal to the program; nothing when it has ended.
    package func signal(_ signal: Int32) { record.signal(signal, everything: false) }

    /// Hands a line or two to the program's standard input.
    ///
    /// - Throws: ``Failure`` when the program takes no input any more.
    package func type(_ text: String) throws {
        guard spawned.send(Array(text.utf8)[...]) == text.utf8.count else {
            throw Failure(description: "the program does not take what is typed")
        }
    }

    /// Waits until the program has written a text to standard output after the place that an earlier call returned.
    ///
    /// - Parameters:
    ///   - text: The text to wait for.
    ///   - place: Where to look from, in bytes.
    /// - Returns: The place behind the text; nil when the program ended its output without it.
    package func output(contains text: String, from place: Int = 0) async -> Int? {
        await endingWithTask { await record.place(behind: Array(text.utf8), from: place) }
    }

    /// The first line on standard output, without its end, once it is whole; what there is when the output has ended.
    package func firstLine() async -> String {
        let end = await output(contains: "\n").map { $0 - 1 }
        let output = record.output
        return String(decoding: output.prefix(end ?? output.count), as: UTF8.self)
    }

    /// Waits until the program has ended.
    package func result() async -> Result { await endingWithTask { await record.result() } }

    private func endingWithTask<Value: Sendable>(_ body: () async -> Value) async -> Value {
        await withTaskCancellationHandler {
            await body()
        } onCancel: {
            record.signal(SIGKILL, everything: true)
        }
    }
}
