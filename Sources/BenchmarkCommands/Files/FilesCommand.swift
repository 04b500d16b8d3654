internal import CommandArguments
internal import Foundation

/// Takes one large file through everything that happens to attachments, and measures it.
struct FilesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Adds, sends, evicts, fetches and reads one large attachment, with kills and broken connections.",
        discussion: """
            Each step is a process of its own, so that its peak of memory is known. Sending and fetching are killed in the middle, \
            and then go on over connections that break four times. Exit status: 0 when the file came back as it was, went on \
            from where it broke off, and no step took more memory than the limit; 1 otherwise.
            """
    )

    /// How much memory a step may take, in MB. What SQLCipher, libcurl and the runtime take is in it.
    static let memoryLimit = 96

    @Option(help: "How large the file is, in MB.")
    var megabytes = 2_048

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard (8...65_536).contains(megabytes) else { throw ValidationError("give 8 to 65536 megabytes") }
    }

    func run() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let source = folder.url.appending(path: "source")
        try LargeFile.make(at: source, megabytes: megabytes)
        let server = try HelperProcess(
            ["file-server", "--folder", folder.url.appending(path: "server").path, "--cut", "\(megabytes / 10)"]
        )
        var answer = Answer(megabytes: megabytes, memoryLimit: Self.memoryLimit)
        do {
            guard let url = server.nextLine() else { throw BenchmarkFailure("the server has not started") }
            let steps = FileSteps(folder: folder.url, url: url)
            for step in FileStep.allCases {
                let middle = Int64(megabytes) << 19
                if step.travels { answer.steps.append(try steps.run(step, killedAt: middle)) }
                let result = try steps.run(step)
                answer.steps.append(result)
                // What was on its way, in buffers, is lost with the process.
                if step.travels, (result.begins.first ?? 0) < middle - 16 << 20 { answer.wentOn = false }
            }
        } catch {
            server.end()
            throw error
        }
        server.end()
        if json { try Report.writeJSON(answer) } else { answer.write() }
        guard answer.holds else { throw ExitCode.failure }
    }

    /// What `--json` prints.
    struct Answer: Encodable {
        let megabytes: Int
        let memoryLimit: Int
        var steps: [FileSteps.Result] = []
        /// Whether each step that was killed went on at most 16 MB before where it was.
        var wentOn = true

        var holds: Bool { wentOn && steps.allSatisfy { $0.peakMegabytes <= memoryLimit } }

        func write() {
            Report.write("\(megabytes) MB, at most \(memoryLimit) MB of memory")
            for step in steps {
                let first = step.begins.first ?? 0
                let count = (step.killedAt ?? Int64(megabytes) << 20) - first
                let perGigabyte = step.seconds / Double(count) * Double(1 << 30)
                let parts = step.begins.count > 1 ? " in \(step.begins.count) parts" : ""
                Report.write(
                    "\(step.name): \(count >> 20) MB from \(first >> 20) MB on\(parts) in "
                        + "\(Report.fixed(step.seconds, digits: 1)) s, \(Report.fixed(perGigabyte, digits: 1)) s/GB, "
                        + (step.killedAt != nil ? "then killed" : "\(step.peakMegabytes) MB of memory")
                )
            }
            Report.write(holds ? "holds" : "DOES NOT HOLD")
        }
    }
}
