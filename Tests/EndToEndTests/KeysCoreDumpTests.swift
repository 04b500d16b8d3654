#if os(Linux)
import ChildProcesses
import Foundation
import Testing

@Suite("The tool's memory")
struct KeysCoreDumpTests {
    @Test("is in no core file from the moment on at which a secret is read")
    func coreDumps() async throws {
        let folder = try TemporaryFolder()
        let device = try await StoreDevice.make(folder.file("d"), rows: 1)
        let pipe = folder.file("pipe")
        #expect(unsafe mkfifo(pipe.path, 0o600) == 0)
        let shell = "ulimit -S -c $(ulimit -H -c); echo $$; exec \"$@\""
        let tool = try ChildProcess(
            .init(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", shell, "sh", ToolProcess.executable.path, "keys", "add-passphrase", "--store", device.path]
                    + ["--new-passphrase-file", pipe.path]
            )
        )
        let process = try await #require(Int(tool.firstLine().trimmingCharacters(in: .whitespacesAndNewlines)))
        // This end opens when the tool waits at the other one: on a thread of its own, as those of the pool are few.
        let writer = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try FileHandle(forWritingTo: pipe) }) }
        }
        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let limit = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(limit.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"], "\(limit)")
        try writer.write(contentsOf: Data("a passphrase of some length\n".utf8))
        try writer.close()
        let result = await tool.result()
        #expect(result.status == 0, "\(result.errors)")
    }
}
#endif
