#if !canImport(Darwin)
internal import CCurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The thread that drives all transfers of one driver: a thread of its own, because waiting for the network must hold up
/// nobody in the pool that tasks run in.
enum TransferThread {
    private final class Beginning {
        let driver: TransferDriver
        let options: TransportOptions

        init(_ driver: TransferDriver, _ options: TransportOptions) {
            self.driver = driver
            self.options = options
        }
    }

    /// Begins the thread, which lives until the driver is closed; false when the system has none to give.
    static func begin(_ driver: TransferDriver, _ options: TransportOptions) -> Bool {
        let beginning = unsafe Unmanaged.passRetained(Beginning(driver, options))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in unsafe TransferThread.main(context) },
            beginning.toOpaque()
        )
        guard code == 0 else {
            unsafe beginning.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    @unsafe
    private static func main(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context = unsafe context else { return nil }
        let beginning = unsafe Unmanaged<Beginning>.fromOpaque(context).takeRetainedValue()
        // Signals are for the threads of the app: one that arrived here would interrupt nothing but our waiting. And a
        // connection that breaks while TLS writes to it would raise SIGPIPE.
        var signals = sigset_t()
        unsafe sigfillset(&signals)
        unsafe pthread_sigmask(SIG_SETMASK, &signals, nil)
        let driver = beginning.driver
        if let loop = TransferLoop(driver, beginning.options) {
            loop.run()
        } else {
            for order in driver.giveUp() {
                switch order {
                case .start(_, _, let continuation): continuation.resume(throwing: TransportError.outOfMemory)
                case .run(let job): job.runElsewhere()
                case .cancel, .resume: break
                }
            }
        }
        return nil
    }
}

extension TransportError {
    static let outOfMemory = TransportError(
        .cannotConnect,
        "Libcurl could not be started; free memory and try again.",
        fate: .notSent
    )
}
#endif
