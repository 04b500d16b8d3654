/// Wrong usage that a command finds itself: its message is printed with the usage, and the process ends with status 64.
package struct ValidationError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Ends the process with a status and without a further word.
package struct ExitCode: Error, Hashable {
    package let rawValue: Int32

    package init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// The answer is no, or a failure was reported: 1.
    package static let failure = ExitCode(1)

    /// Wrong usage: 64, `EX_USAGE` of `sysexits.h`.
    package static let wrongUsage = ExitCode(64)
}

/// Asks for the help of the command at hand.
struct HelpRequest: Error {}

/// Asks for the version of the program.
struct VersionRequest: Error {}
