#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A call to the system that failed, and the number it left.
struct SystemCallFailure: Error, Sendable, CustomStringConvertible {
    let call: String
    let number: Int32

    var description: String { "\(call): \(unsafe String(cString: strerror(number))) (errno \(number))" }

    /// Whether a lock was refused because somebody else has it.
    var isLockedElsewhere: Bool { number == EWOULDBLOCK }

    /// Runs a call that answers -1 for failure, again if a signal interrupted it.
    static func check<Answer: SignedInteger>(
        _ call: String,
        _ body: () -> Answer
    ) throws(SystemCallFailure) -> Answer {
        while true {
            let answer = body()
            guard answer == -1 else { return answer }
            let number = errno
            guard number == EINTR else { throw SystemCallFailure(call: call, number: number) }
        }
    }
}
