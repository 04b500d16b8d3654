internal import Foundation
internal import Synchronization

/// What a process that works for the runner is asked to do. It travels in the environment, so that the program's own
/// arguments stay as they are.
struct WorkerTask: Codable {
    static let variable = "SEALEDSYNC_CONFORMANCE_TASK"

    /// A step that ends with the death of its process.
    struct Drill: Codable {
        var rule: String
        var name: String
        var folder: String
    }

    var rules: [String] = []
    /// Known after the first process has asked for them.
    var capabilities: [String]?
    var settings: RunSettings
    var drill: Drill?

    /// The task this process was started for, nil when a person started it.
    static func ofThisProcess() throws -> WorkerTask? {
        try ProcessInfo.processInfo.environment[variable]
            .map { try JSONDecoder().decode(WorkerTask.self, from: Data($0.utf8)) }
    }
}

/// What the process tells the runner, one line of JSON each, on standard output.
struct WorkerEvent: Codable {
    /// Stands before each event: what a subject prints itself has another beginning.
    static let mark = "\u{1}conformance "

    var capabilities: [String]?
    var started: String?
    var finished: FinishedRule?
    var failure: String?
    /// What a drill would have needed.
    var unsupported: String?
    /// How many seconds of the processor the process has used: it is not stuck.
    var work: Double?

    private static let output = Mutex(FileHandle.standardOutput)

    func send() throws {
        let line = Self.mark + String(decoding: try JSONEncoder().encode(self), as: UTF8.self) + "\n"
        try Self.output.withLock { try $0.write(contentsOf: Data(line.utf8)) }
    }

    /// Tells every second what this process has used of the processor, on a thread of its own: a subject may block all that
    /// tasks run on.
    static func reportWork() {
        Thread.detachNewThread {
            var event = WorkerEvent()
            while true {
                event.work = RunningTime.processorTime
                do { try event.send() } catch {
                    // Nobody listens any more; the process that did has its own way to find out.
                    return
                }
                sleep(1)
            }
        }
    }

    /// The event in a line, nil when the line is the subject's own.
    init?(line: String) throws {
        guard let range = line.range(of: Self.mark) else { return nil }
        self = try JSONDecoder().decode(WorkerEvent.self, from: Data(line[range.upperBound...].utf8))
    }

    init() {}
}

/// A result without the rule's description, which both sides have.
struct FinishedRule: Codable {
    var rule: String
    var status: String
    var violations: [Violation] = []
    var reason: String?
    var checkedWithoutCapability: Bool
    var seconds: Double
    var seed: UInt64?
    var isSlow: Bool

    init(_ result: RuleResult) {
        rule = result.rule.id
        status = result.outcome.status
        checkedWithoutCapability = result.checkedWithoutCapability
        seconds = result.seconds
        seed = result.seed
        isSlow = result.isSlow
        switch result.outcome {
        case .passed, .timedOut: break
        case .failed(let violations), .noted(let violations): self.violations = violations
        case .notApplicable(let reason), .crashed(let reason): self.reason = reason
        }
    }

    func result(_ definition: RuleDefinition) -> RuleResult {
        let outcome: RuleOutcome =
            switch status {
            case "passed": .passed
            case "failed": .failed(violations)
            case "noted": .noted(violations)
            case "notApplicable": .notApplicable(reason ?? "")
            case "timedOut": .timedOut(seconds: seconds)
            default: .crashed(reason ?? status)
            }
        return RuleResult(
            rule: definition,
            outcome: outcome,
            checkedWithoutCapability: checkedWithoutCapability,
            seconds: seconds,
            seed: seed,
            isSlow: isSlow
        )
    }
}
