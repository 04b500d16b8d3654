internal import Foundation

/// Runs steps as processes and reads what they say.
struct FileSteps {
    /// What became of a step.
    struct Result: Encodable {
        let name: String
        /// Where each transfer has begun, in bytes.
        var begins: [Int64] = []
        /// At which byte it was killed.
        var killedAt: Int64?
        var seconds = 0.0
        var peakMegabytes = 0
    }

    let folder: URL
    let url: String

    /// - Parameters:
    ///   - step: What is to be done.
    ///   - end: At which byte of the file the process is killed; nil lets it end.
    /// - Returns: What became of it.
    /// - Throws: `BenchmarkFailure` when it did not end so.
    func run(_ step: FileStep, killedAt end: Int64? = nil) throws -> Result {
        var arguments = ["file-step", "--step", step.rawValue, "--folder", folder.path, "--server", url]
        if let end { arguments += ["--end", "\(end)"] }
        let start = ContinuousClock.now
        let process = try HelperProcess(arguments)
        var result = Result(name: step.rawValue, killedAt: end)
        while let line = process.nextLine() {
            let numbers = line.split(separator: " ").compactMap { Double($0) }
            if line.hasPrefix("from ") { result.begins += numbers.map { Int64($0) } }
            guard line.hasPrefix("done "), numbers.count == 2 else { continue }
            (result.seconds, result.peakMegabytes) = (numbers[0], Int(numbers[1]))
        }
        let isDone = process.end()
        guard isDone == (end == nil) else {
            throw BenchmarkFailure("the step '\(step.rawValue)' has not ended as it should")
        }
        if !isDone { result.seconds = (ContinuousClock.now - start) / .seconds(1) }
        return result
    }
}
