internal import Foundation

extension ConformanceOptions {
    /// What a program does that has nothing but rules: reads its arguments, and ends with the status that comes of them,
    /// 64 for arguments that make no sense.
    package static func runProgram(_ body: (ConformanceOptions) async -> Int32) async -> Never {
        do {
            exit(await body(try ConformanceOptions(arguments: CommandLine.arguments.dropFirst())))
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(64)
        }
    }
}

extension RuleSuite {
    /// What a program does that runs these rules: reads the options, runs or lists the rules, and prints the answer on
    /// standard output.
    ///
    /// The rules run in a process of their own, which is this program started again with the same arguments: a program
    /// that calls this must do so before it does anything that must not be done twice, and must exit with the status.
    ///
    /// - Parameters:
    ///   - subject: What is judged.
    ///   - options: What to do.
    /// - Returns: The status to exit with: 0 when no rule is broken, 1 when one is or nothing could be run, 64 for
    ///   options that make no sense.
    public func main(_ subject: Subject, _ options: ConformanceOptions) async -> Int32 {
        do {
            return try await perform(subject, options)
        } catch let error as UsageError {
            answer(error: "usage", error.description, options)
            FileHandle.standardError.write(Data((error.description.wrapped() + "\n").utf8))
            return 64
        } catch {
            let message = "the rules could not be run: \(error)"
            FileHandle.standardError.write(Data((message.wrapped() + "\n").utf8))
            answer(error: "notRun", message, options)
            return 1
        }
    }

    /// A program that asked for an object gets one.
    private func answer(error code: String, _ message: String, _ options: ConformanceOptions) {
        guard options.format == .json else { return }
        do {
            print(try encodedJSON(["error": ["code": code, "message": message]]), terminator: "")
        } catch {
            // Two texts in an object can always be encoded, and standard error has the message.
        }
    }

    private func perform(_ subject: Subject, _ options: ConformanceOptions) async throws -> Int32 {
        #if os(Linux) || os(macOS)
        if let task = try WorkerTask.ofThisProcess() {
            try await work(on: subject, task)
            return 0
        }
        #endif
        guard !options.helps else {
            print(ConformanceOptions.help)
            return 0
        }
        let selected = try selecting(chapters: options.chapters, ids: options.rules)
        guard !options.lists else {
            print(try selected.list(options.format), terminator: "")
            return 0
        }
        let deviations = try options.deviations.map { try Deviation.read(from: $0) } ?? []
        _ = try selecting(ids: deviations.map(\.rule))
        let report = try await selected.report(on: subject, options).accepting(deviations)
        print(try report.text(options.format), terminator: "")
        return report.isPassed ? 0 : 1
    }

    private func report(on subject: Subject, _ options: ConformanceOptions) async throws -> ConformanceReport {
        var settings = RunSettings(seed: options.seed)
        settings.secondsPerRule = options.secondsPerRule
        let folder = try TrialFolder(in: settings.folder)
        defer { folder.remove() }
        settings.folder = folder.path
        let meter = ProgressMeter(count: rules.count)
        defer { meter.clear() }
        #if os(Linux) || os(macOS)
        return try await runInProcesses(subjectName: subject.name, settings) { meter.advance($0) }
        #else
        return try await run(on: subject, settings) { meter.advance($0) }
        #endif
    }
}
