#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Threads of a server's own, so that waiting on a socket takes none of Swift's cooperative ones.
enum ServerThread {
    private final class Work {
        let run: () -> Void

        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Starts a thread that ends when its work does.
    ///
    /// - Returns: Whether it was started; not when the system has no room for another thread.
    static func start(_ work: @escaping @Sendable () -> Void) -> Bool {
        let argument = unsafe Unmanaged.passRetained(Work(work)).toOpaque()
        #if canImport(Darwin)
        var thread: pthread_t?
        let result = unsafe pthread_create(&thread, nil, { unsafe ServerThread.main($0) }, argument)
        #else
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { unsafe $0.flatMap { unsafe ServerThread.main($0) } },
            argument
        )
        #endif
        if result != 0 { unsafe Unmanaged<Work>.fromOpaque(argument).release() }
        return result == 0
    }

    private static func main(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        // Nobody waits for the thread: whoever wants to know its end is told by its work.
        pthread_detach(pthread_self())
        blockSignals()
        let work = unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
        work.run()
        return nil
    }

    /// Leaves signals to the program's other threads, but for those that a thread gives itself by a mistake.
    private static func blockSignals() {
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        for own in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { unsafe sigdelset(&signals, own) }
        unsafe pthread_sigmask(SIG_SETMASK, &signals, nil)
    }
}
