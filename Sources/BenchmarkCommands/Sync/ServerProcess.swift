internal import Foundation

/// This program, started again as the server: see ``ServerCommand``.
struct ServerProcess: Sendable {
    /// What a server is like.
    struct Kind: Sendable, Hashable {
        var protocolNumber = 3
        var rows = 0
        var tables = 1
        var delayMilliseconds = 0
    }

    let kind: Kind
    let url: URL
    private let process: Process
    private let input: Pipe

    fileprivate init(_ kind: Kind) async throws {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(filePath: try Self.executablePath())
        process.arguments = [
            "server", "--protocol", "\(kind.protocolNumber)", "--rows", "\(kind.rows)", "--tables", "\(kind.tables)",
            "--delay", "\(kind.delayMilliseconds)",
        ]
        // Rows that are there from the beginning do not change.
        if kind.rows > 0 { process.arguments?.append("--remembers") }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // It says one line; until then there is nothing else to do.
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let url = URL(string: line.trimmingCharacters(in: .newlines)), url.scheme == "http" else {
            throw BenchmarkFailure("the server has not started")
        }
        self.kind = kind
        self.url = url
        self.process = process
        self.input = input
    }

    /// Takes all rows back to those of the start.
    func reset() async throws {
        try await RequestLoop.send([.reset(url)], parallel: 1)
    }

    fileprivate func stop() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    static func executablePath() throws -> String {
        #if os(Linux)
        return try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #else
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }
}

/// The servers of a run; each kind is started when it is first wanted.
actor ServerProcesses {
    private var running: [ServerProcess.Kind: ServerProcess] = [:]

    func server(_ kind: ServerProcess.Kind) async throws -> ServerProcess {
        if let server = running[kind] { return server }
        let server = try await ServerProcess(kind)
        running[kind] = server
        return server
    }

    /// Ends all of them.
    func stop() throws {
        for server in running.values { try server.stop() }
        running = [:]
    }
}
