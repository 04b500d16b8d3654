#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A call to the system that failed, and the number it left.
///
/// The one error of this module: who uses it says in its own error what it means for keys or for a store.
package struct SystemCallFailure: Error, Sendable, CustomStringConvertible {
    package let call: String
    package let number: Int32

    package init(call: String, number: Int32) {
        self.call = call
        self.number = number
    }

    package var description: String { "\(call): \(unsafe String(cString: strerror(number))) (errno \(number))" }

    /// Runs a call that answers -1 for failure, again if a signal interrupted it.
    @discardableResult
    package static func check<Answer: SignedInteger>(
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
