package import DatasyncEmulator
package import Foundation

extension EmulatorServer {
    /// Starts on a free port that the system never chooses by itself: after a stop nobody else gets it, so that the server can
    /// start there again, or a test see that nobody answers.
    ///
    /// The ports that systems choose from begin at 32,768 or above it.
    package func startOnFixedPort() async throws -> URL {
        for port in (UInt16(10_000)..<32_768).shuffled().prefix(100) {
            do {
                return try await start(port: port)
            } catch let error as EmulatorError where error.code == .cannotListen {
                continue
            }
        }
        return try await start()
    }
}
