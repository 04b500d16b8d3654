internal import Foundation
internal import Synchronization

#if os(Linux) || os(macOS)
/// This program, started again with a task.
final class WorkerProcess {
    private let process = Process()
    private let output = Pipe()
    private let errors = ErrorOutput()
    private var unread: [UInt8] = []

    /// What reading gave.
    enum Line {
        case line(String)
        case end
        case timeout
    }

    init(_ task: WorkerTask) throws {
        process.executableURL = URL(fileURLWithPath: try Self.executablePath())
        process.arguments = Array(CommandLine.arguments.dropFirst())
        var environment = ProcessInfo.processInfo.environment
        environment[WorkerTask.variable] = String(decoding: try JSONEncoder().encode(task), as: UTF8.self)
        // A trap is reported by the runner; the trace of every frame takes seconds. A caller's own setting stays.
        environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
        // Build machines mostly are where nothing shows that is taken from the machine: in UTC.
        environment["TZ"] = "America/New_York"
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors.pipe
        try process.run()
        errors.pass()
    }

    /// The next line of the process, or why there is none before the time is over. Blocks the thread.
    func readLine(within time: inout RunningTime) throws -> Line {
        while true {
            if let end = unread.firstIndex(of: 10) {
                defer { unread.removeSubrange(...end) }
                return .line(String(decoding: unread[..<end], as: UTF8.self))
            }
            if time.isOver() { return .timeout }
            var descriptor = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&descriptor, 1, Int32(RunningTime.step * 1_000))
            guard ready > 0 else {
                if ready == 0 || errno == EINTR { continue }
                throw RunFailure("the process that runs the rules cannot be read: error \(errno)")
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return .end }
            unread += data
        }
    }

    /// Ends the process without asking.
    func kill() { Foundation.kill(process.processIdentifier, SIGKILL) }

    /// Waits for the end of the process; nil when it ended by itself with status 0, else how it ended.
    func waitUntilExit() -> String? {
        process.waitUntilExit()
        let status = process.terminationStatus
        switch process.terminationReason {
        case .uncaughtSignal:
            let last = errors.fatalError().map { ": \(brief($0))" } ?? ""
            return "the process was ended by \(Self.name(ofSignal: status))\(last)"
        default: return status == 0 ? nil : "the process ended itself with status \(status)"
        }
    }

    /// Whether the process was killed by SIGKILL. Only after ``waitUntilExit()``.
    var wasKilled: Bool { process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL }

    /// Runs a drill and waits for the death of its process, without blocking the threads that tasks run on.
    ///
    /// - Throws: ``Unsupported`` when the drill threw that, and reported nothing.
    static func runDrill(_ name: String, of rule: String, in folder: String, _ settings: RunSettings) async throws {
        let task = WorkerTask(settings: settings, drill: .init(rule: rule, name: name, folder: folder))
        let failure: String? = try await onThread {
            let process = try WorkerProcess(task)
            var time = RunningTime(seconds: settings.secondsPerRule, reportedWork: 0)
            var said: String?
            var unsupported: String?
            reading: while true {
                switch try process.readLine(within: &time) {
                case .line(let line):
                    let event = try WorkerEvent(line: line)
                    said = event?.failure ?? said
                    unsupported = event?.unsupported ?? unsupported
                    if let work = event?.work { time.reportedWork = work }
                case .end: break reading
                case .timeout:
                    process.kill()
                    _ = process.waitUntilExit()
                    return "it was not done after \(Int(settings.secondsPerRule)) seconds"
                }
            }
            let end = process.waitUntilExit()
            if let unsupported, said == nil { throw Unsupported(unsupported) }
            return process.wasKilled && said == nil ? nil : said ?? end ?? "it went on living"
        }
        if let failure { throw DrillFailure("the process '\(name)' did not come to its end: \(failure)") }
    }

    private static func executablePath() throws -> String {
        #if os(Linux)
        return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #else
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }

    private static func name(ofSignal signal: Int32) -> String {
        switch signal {
        case SIGABRT: "SIGABRT"
        case SIGBUS: "SIGBUS"
        case SIGFPE: "SIGFPE"
        case SIGILL: "SIGILL (a trap)"
        case SIGTRAP: "SIGTRAP (a trap)"
        case SIGSEGV: "SIGSEGV"
        case SIGKILL: "SIGKILL"
        case SIGALRM: "SIGALRM (it took too long)"
        default: "signal \(signal)"
        }
    }
}

/// What a process writes to standard error: passed on, and looked through for the reason of a trap.
private final class ErrorOutput: Sendable {
    let pipe = Pipe()
    private let found = Mutex<String?>(nil)
    private let isOver = DispatchSemaphore(value: 0)

    /// Passes on what comes, until the process ends.
    func pass() {
        Thread.detachNewThread { [self] in
            var line: [UInt8] = []
            while true {
                let data = pipe.fileHandleForReading.availableData
                guard !data.isEmpty else { break }
                FileHandle.standardError.write(data)
                for byte in data {
                    if byte != 10 {
                        line.append(byte)
                        continue
                    }
                    look(line)
                    line = []
                }
            }
            look(line)
            isOver.signal()
        }
    }

    private func look(_ line: [UInt8]) {
        let text = String(decoding: line, as: UTF8.self)
        if text.contains("Fatal error:") { found.withLock { $0 = text } }
    }

    /// What Swift said last before a trap. Only after the end of the process.
    func fatalError() -> String? {
        // A process that this one started may hold the pipe open.
        _ = isOver.wait(timeout: .now() + 1)
        return found.withLock { $0 }
    }
}

/// Does blocking work on a thread of its own.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
#else
/// Where programs cannot start programs, drills are not offered.
enum WorkerProcess {
    static func runDrill(_ name: String, of rule: String, in folder: String, _ settings: RunSettings) async throws {
        throw Unsupported("this rule kills processes, which cannot be started here")
    }
}
#endif
