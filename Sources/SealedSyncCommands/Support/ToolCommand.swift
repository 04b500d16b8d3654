internal import CommandArguments
internal import Foundation

/// A command that reports its failures in one place: on standard error for people, as one object for programs.
protocol ToolCommand: ParsableCommand {
    /// Whether the answer is to be one JSON object on standard output.
    var json: Bool { get }

    /// Does the work. An error ends the process with status 1.
    func perform() async throws
}

extension ToolCommand {
    func run() async throws {
        do {
            try await perform()
        } catch let exit as ExitCode {
            throw exit
        } catch let error as ValidationError {
            throw error
        } catch {
            throw try Failure(error).reported(json: json)
        }
    }
}

extension Failure {
    /// Reports the failure on standard error, and as one object if that is asked for.
    ///
    /// - Returns: The status to end with.
    func reported(json: Bool, status: ExitCode = .failure) throws -> ExitCode {
        Console.writeError(sentence: "sealedsync: \(text)")
        if json { try writeAnswer() }
        return status
    }

    /// Prints the failure as one object.
    func writeAnswer() throws { try Console.write(json: FailureAnswer(error: self)) }
}

private struct FailureAnswer: Encodable {
    var error: Failure
}
