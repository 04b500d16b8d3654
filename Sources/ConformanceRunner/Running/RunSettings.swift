internal import Foundation

/// How rules are run.
public struct RunSettings: Sendable, Codable {
    /// What random numbers start with.
    public var seed: UInt64

    /// After how many seconds a rule is slow, and given up when it comes no further; time in which the process is stopped does
    /// not count. ``RuleSuite/main(_:_:)`` runs rules in a process of their own, where one that uses the processor comes
    /// further: it is given up when it has used ten times as many seconds of it.
    public var secondsPerRule: Double = 60

    /// How many seconds a rule waits for something that should have happened already, such as the delivery of a change.
    public var patience: Double = 5

    /// The folder in which every rule gets one of its own.
    public var folder: String

    /// Whether rules may start this program again. Set by ``RuleSuite/main(_:_:)``.
    var canStartProcesses = false

    /// Settings with a random seed, in the system's folder for temporary files.
    public init(seed: UInt64? = nil, folder: String? = nil) {
        self.seed = seed ?? UInt64.random(in: 1...999_999_999)
        self.folder = folder ?? NSTemporaryDirectory()
    }
}
