import ChildProcesses
import Foundation
import Testing

@Suite("Programs that tests start")
struct ChildProcessTests {
    private func shell(_ script: String, _ arguments: [String] = [], environment: [String: String]? = nil)
        -> ChildProcess.Command
    {
        .init(URL(filePath: "/bin/sh"), ["-c", script, "sh"] + arguments, environment: environment)
    }

    @Test("give their outputs and their status, or the signal that ended them")
    func results() async throws {
        let result = try await ChildProcess.run(shell("echo \"$1\"; echo wrong >&2; exit 3", ["a b"]))
        #expect(result.ending == .exit(status: 3) && result.status == 3)
        #expect(result.output == "a b\n" && result.errors == "wrong\n")
        let killed = try await ChildProcess.run(shell("kill -9 $$"))
        #expect(killed.ending == .signal(SIGKILL) && killed.status == nil)
    }

    @Test("write more than a pipe holds, to both outputs at once")
    func largeOutputs() async throws {
        let script = "head -c 3000000 /dev/zero >&2 & head -c 5000000 /dev/zero; wait"
        let result = try await ChildProcess.run(shell(script))
        #expect(result.outputBytes.count == 5_000_000 && result.errorBytes.count == 3_000_000)
    }

    @Test("have the environment and the folder they are given, and this process's own without")
    func surroundings() async throws {
        let given = try await ChildProcess.run(shell("echo $X-$HOME", environment: ["X": "y"]))
        #expect(given.output == "y-\n")
        let folder = URL(filePath: "/")
        let moved = try await ChildProcess.run(.named("pwd", folder: folder))
        #expect(moved.output == "/\n")
        let here = try await ChildProcess.run(.named("pwd"))
        #expect(here.output == FileManager.default.currentDirectoryPath + "\n")
    }

    @Test("read what is typed, in answer to what they have written")
    func dialogue() async throws {
        var command = shell("printf 'name? '; read name; printf \"$name? \"; read place; echo \"$name $place\"")
        command.input = .typed
        let process = try ChildProcess(command)
        let place = try #require(await process.output(contains: "? "))
        try process.type("Ada\n")
        #expect(await process.output(contains: "Ada? ", from: place) != nil)
        try process.type("London\n")
        #expect(await process.output(contains: "never") == nil)
        #expect(await process.result().output.hasSuffix("Ada London\n"))
        #expect(throws: ChildProcess.Failure.self) { try process.type("too late") }
    }

    @Test("have nothing to read without input, and what is given with it")
    func input() async throws {
        #expect(try await ChildProcess.run(.named("cat")).output.isEmpty)
        #expect(try await ChildProcess.run(.named("cat", input: .text("given"))).output == "given")
        let large = String(repeating: "0123456789", count: 200_000)
        #expect(try await ChildProcess.run(.named("cat", input: .text(large))).output == large)
        #expect(try await ChildProcess.run(.named("true", input: .text(large))).status == 0, "nobody has to read it")
    }

    #if os(Linux)
    @Test("inherit no descriptor but their streams, and no signal that is blocked or ignored")
    func inheritance() async throws {
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        let result = try await ChildProcess.run(shell("ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status"))
        let lines = result.output.split(separator: "\n").map { $0.filter { !$0.isWhitespace } }
        // The fourth one is that of the folder which is listed.
        #expect(Array(lines.prefix(4)) == ["0", "1", "2", "3"])
        let masks = lines.dropFirst(4).map { UInt64($0.dropFirst(7), radix: 16) }
        // The C library keeps signals 32 and 33 to itself.
        #expect(masks.count == 2 && masks.allSatisfy { $0.map { $0 & 0x7FFF_FFFF } == 0 }, "\(lines)")
    }
    #endif

    @Test("that cannot be started are errors")
    func missing() async throws {
        await #expect(throws: ChildProcess.Failure.self) {
            try await ChildProcess.run(.init(URL(filePath: "/no/such/program")))
        }
    }

    @Test("are killed with what they have started when the task that waits is cancelled")
    func cancellation() async throws {
        let process = try ChildProcess(shell("sleep 1000 & echo $!; wait"))
        let other = try #require(pid_t(await process.firstLine()))
        let waiting = Task { await process.result() }
        waiting.cancel()
        #expect(await waiting.value.ending == .signal(SIGKILL))
        // The output ends when nobody holds it any more, so the program in the background is gone too, or about to be:
        // a process that ends closes its files first.
        while kill(other, 0) == 0, !isDead(other) { await Task.yield() }
    }

    @Test("are killed when nobody holds them any more")
    func abandoned() async throws {
        let number: pid_t
        do {
            let process = try ChildProcess(shell("echo $$; exec sleep 1000"))
            number = try #require(pid_t(await process.firstLine()))
        }
        while kill(number, 0) == 0 { await Task.yield() }
    }

    @Test("take signals while they run, and none afterwards")
    func signals() async throws {
        let process = try ChildProcess(shell("trap 'exit 7' TERM; echo ready; while true; do sleep 0.01; done"))
        #expect(await process.firstLine() == "ready" && process.isRunning)
        process.signal(SIGTERM)
        #expect(await process.result().status == 7 && !process.isRunning)
        process.signal(SIGKILL)
        #expect(await process.result().status == 7)
    }

    @Test("fifty at once all end, and are told apart")
    func many() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let result = try await ChildProcess.run(shell("echo $1; exit $1", ["\(number)"]))
                    return result.output == "\(number)\n" && result.status == Int32(number)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    /// Whether a process has ended, though its parent has not asked for that yet.
    private func isDead(_ process: pid_t) -> Bool {
        let state = FileManager.default.contents(atPath: "/proc/\(process)/stat")
            .map { String(decoding: $0, as: UTF8.self) }
        return state?.contains(") Z ") ?? true
    }
}
