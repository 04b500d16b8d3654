internal import Dispatch
internal import Foundation

/// Keeps the terminal from showing what is typed, until it ends or a signal ends the process. Making one blocks for a
/// moment.
struct SilentTerminal {
    private let settings: termios
    private let sources: [any DispatchSourceSignal]

    /// - Throws: ``ToolError`` with code `secretUnavailable` when standard input is not a terminal.
    init() throws {
        var settings = termios()
        guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else {
            throw ToolError("secretUnavailable", "there is no terminal to ask on; give a file with the passphrase")
        }
        let shown = settings
        self.settings = shown
        let registrations = DispatchSemaphore(value: 0)
        sources = [SIGINT, SIGTERM, SIGHUP]
            .map { number in
                // The default action would leave a terminal that shows nothing any more.
                _ = signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number)
                source.setEventHandler {
                    var shown = shown
                    _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &shown)
                    _ = signal(number, SIG_DFL)
                    _ = kill(getpid(), number)
                }
                source.setRegistrationHandler { registrations.signal() }
                source.resume()
                return source
            }
        // A signal that comes before a source is registered would be lost.
        for _ in sources { registrations.wait() }
        settings.c_lflag &= ~tcflag_t(ECHO)
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Shows again what is typed, and lets signals end the process in their own way.
    func end() {
        var settings = settings
        _ = unsafe tcsetattr(STDIN_FILENO, TCSANOW, &settings)
        for source in sources {
            source.cancel()
            _ = signal(Int32(source.handle), SIG_DFL)
        }
    }
}
