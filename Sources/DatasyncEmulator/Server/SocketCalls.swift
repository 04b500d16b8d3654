import Foundation

/// The calls that platforms disagree about, and those that want pointers.
enum SocketCalls {
    #if canImport(Darwin)
    /// There, a socket option does it; see `prepare`.
    static let sendFlags: Int32 = 0
    static let streamType = SOCK_STREAM
    #else
    /// A connection that broke is an error here, not a signal that ends the process.
    static let sendFlags = Int32(MSG_NOSIGNAL)
    static let streamType = Int32(SOCK_STREAM.rawValue)
    #endif

    /// A new stream socket that child processes do not inherit; negative, with `errno` set, when there is none.
    static func makeSocket(family: Int32) -> Int32 {
        #if canImport(Darwin)
        return keptFromChildren(socket(family, streamType, 0))
        #else
        return socket(family, streamType | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    /// The next connection of a listening socket, likewise.
    static func acceptSocket(_ listener: Int32) -> Int32 {
        keptFromChildren(accept(listener, nil, nil))
    }

    /// Two ends of one pipe, likewise; nil, with `errno` set, when there is none.
    static func makePipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return nil }
        return (keptFromChildren(ends[0]), keptFromChildren(ends[1]))
    }

    /// Swift does not see the calls that do this while they open a descriptor (`accept4`, `pipe2`), so a process that
    /// is started in between inherits it all the same.
    private static func keptFromChildren(_ descriptor: Int32) -> Int32 {
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    static func setNonBlocking(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    /// What every connected socket is set to. A socket that takes no option works without it.
    static func prepare(_ descriptor: Int32) {
        setNonBlocking(descriptor)
        setOption(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        #if canImport(Darwin)
        setOption(descriptor, SOL_SOCKET, SO_NOSIGPIPE, Int32(1))
        #endif
    }

    static func setOption<Value: BitwiseCopyable>(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Value) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Value>.size))
    }

    /// How many bytes were sent and not acknowledged; 0 where the system does not tell.
    static func unacknowledgedCount(_ descriptor: Int32) -> Int {
        #if canImport(Darwin)
        return 0
        #else
        var count: Int32 = 0
        return unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        #endif
    }

    static func close(_ descriptor: Int32) -> Int32 {
        Foundation.close(descriptor)
    }

    /// The time that is left, for `poll`; rounded up, lest it wakes too early and is asked again at once.
    static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = max(.zero, deadline - .now)
        let (seconds, attoseconds) = left.components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        return Int32(seconds) * 1_000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

/// A call of the system that failed, as the cause of an error.
struct SystemFailure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    var description: String { "\(call): \(unsafe String(cString: strerror(code)))" }
}
