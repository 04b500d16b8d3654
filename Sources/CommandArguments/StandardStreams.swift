#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The two streams that texts go to, and the screen behind them.
enum StandardStream: Int32 {
    case output = 1
    case errors = 2

    /// Writes all of a text. Where nobody reads any longer, nothing can be done about it.
    func write(_ text: String) {
        unsafe Array(text.utf8)
            .withUnsafeBytes { bytes in
                var rest = unsafe bytes[...]
                while unsafe !rest.isEmpty {
                    let count = unsafe systemWrite(rawValue, UnsafeRawBufferPointer(rebasing: rest))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return }
                    unsafe rest = rest.dropFirst(count)
                }
            }
    }

    /// How wide texts for people may be: as the variable COLUMNS or the terminal says, 80 at most, 40 at least.
    var columns: Int {
        if let text = unsafe getenv("COLUMNS").map({ unsafe String(cString: $0) }), let count = Int(text), count > 0 {
            return Self.readable(count)
        }
        var size = winsize()
        let request = UInt(TIOCGWINSZ)
        guard unsafe ioctl(rawValue, request, &size) == 0, size.ws_col > 0 else { return 80 }
        return Self.readable(Int(size.ws_col))
    }

    private static func readable(_ columns: Int) -> Int { min(max(columns, 40), 80) }

    /// Whether a person reads along.
    var isTerminal: Bool { isatty(rawValue) == 1 }
}

/// Within the enumeration the name would mean its own method.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe write(descriptor, bytes.baseAddress, bytes.count)
}

/// Ends the process, with what is buffered written out.
///
/// Without the handlers of `exit`: libraries free there what other threads of the process may still be using, libcrypto
/// among them, and the process would crash after its work is done.
func endProcess(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
}
