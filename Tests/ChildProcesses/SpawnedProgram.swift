internal import CSpawn
internal import Foundation
internal import Synchronization

/// A program that was started with `posix_spawn`, and this process's ends of its streams.
///
/// Foundation's `Process` changes this process's own folder while it starts a program elsewhere, and closes in the child
/// the descriptors that it has counted before: neither suits tests that start programs at the same time.
final class SpawnedProgram: Sendable {
    let identifier: pid_t
    private let output: Int32
    private let errors: Int32
    /// A socket: a pipe whose reader is gone would end this process with a signal. Negative for none.
    private let input: Mutex<Int32>
    /// What the program is given to read; nil for what is typed.
    private let text: [UInt8]?

    init(_ command: ChildProcess.Command) throws {
        var opened: [Int32] = []
        defer { for descriptor in opened { close(descriptor) } }
        let output = try Self.pipe(&opened)
        let errors = try Self.pipe(&opened)
        let input: (own: Int32, child: Int32)?
        switch command.input {
        case .nothing: (input, text) = (nil, [])
        case .text(let given): (input, text) = (try Self.sockets(&opened), Array(given.utf8))
        case .typed: (input, text) = (try Self.sockets(&opened), nil)
        }

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input.child, 0)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, output.child, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors.child, 2)
        if let folder = command.folder { unsafe posix_spawn_file_actions_addchdir_np(&actions, folder.path) }
        #if os(Linux)
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        #endif

        let environment = command.environment ?? ProcessInfo.processInfo.environment
        var arguments = unsafe Self.strings([command.executable.path] + command.arguments)
        var variables = unsafe Self.strings(environment.map { "\($0.key)=\($0.value)" })
        defer { unsafe Self.free(arguments + variables) }
        var attributes = posix_spawnattr_t()
        Self.prepare(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var identifier: pid_t = 0
        let status = unsafe posix_spawn(
            &identifier,
            command.executable.path,
            &actions,
            &attributes,
            &arguments,
            &variables
        )
        guard status == 0 else {
            throw ChildProcess.Failure(description: "\(command.executable.path) could not be started: error \(status)")
        }
        self.identifier = identifier
        (self.output, self.errors) = (output.own, errors.own)
        self.input = Mutex(input?.own ?? -1)
        opened.removeAll { [output.own, errors.own, input?.own].contains($0) }
    }

    deinit {
        close(output)
        close(errors)
        endInput()
    }

    /// Writes the text and reads both outputs to their ends. Blocks the thread.
    func exchange(_ take: ([UInt8], ChildRecord.Stream) -> Void) {
        var unsent = (text ?? [])[...]
        if text?.isEmpty == true { endInput() }
        var open: [(descriptor: Int32, stream: ChildRecord.Stream)] = [(output, .output), (errors, .errors)]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while !open.isEmpty {
            var entries = open.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let socket = unsent.isEmpty ? -1 : input.withLock { $0 }
            // A negative descriptor is passed over.
            entries.append(pollfd(fd: socket, events: Int16(POLLOUT), revents: 0))
            guard unsafe poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            if entries.removeLast().revents != 0 {
                // What a program does not take is not sent.
                unsent = send(unsent).map { unsent.dropFirst($0) } ?? []
                if unsent.isEmpty { endInput() }
            }
            for (entry, (descriptor, stream)) in zip(entries, open) where entry.revents != 0 {
                let count = unsafe read(descriptor, &buffer, buffer.count)
                if count > 0 { take(Array(buffer.prefix(count)), stream) }
                if count == 0 || count < 0 && errno != EINTR { open.removeAll { $0.descriptor == descriptor } }
            }
        }
    }

    /// Sends as much as there is room for now, without a signal; nil when nobody reads it any more.
    func send(_ bytes: ArraySlice<UInt8>) -> Int? {
        let count = input.withLock { input in
            #if os(Linux)
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            #else
            let flags = MSG_DONTWAIT
            #endif
            return unsafe bytes.withUnsafeBytes { unsafe Foundation.send(input, $0.baseAddress, $0.count, flags) }
        }
        if count >= 0 { return count }
        return [EAGAIN, EINTR].contains(errno) ? 0 : nil
    }

    func endInput() {
        input.withLock { input in
            if input >= 0 { close(input) }
            input = -1
        }
    }

    /// A pipe that other programs do not inherit.
    private static func pipe(_ opened: inout [Int32]) throws -> (own: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let status = unsafe pipe2(&ends, O_CLOEXEC)
        #else
        let status = unsafe Foundation.pipe(&ends)
        #endif
        guard status == 0 else { throw ChildProcess.Failure(description: "no pipe could be opened: error \(errno)") }
        opened += ends
        return (ends[0], ends[1])
    }

    /// Two connected sockets that other programs do not inherit.
    private static func sockets(_ opened: inout [Int32]) throws -> (own: Int32, child: Int32) {
        var ends: [Int32] = [-1, -1]
        #if os(Linux)
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw ChildProcess.Failure(description: "no socket could be opened: error \(errno)")
        }
        #if !os(Linux)
        var isWithoutSignal: Int32 = 1
        unsafe setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &isWithoutSignal, socklen_t(MemoryLayout<Int32>.size))
        #endif
        opened += ends
        return (ends[0], ends[1])
    }

    /// No signal is blocked or ignored, whatever the calling thread does, and the program leads a group of its own.
    private static func prepare(_ attributes: inout posix_spawnattr_t) {
        unsafe posix_spawnattr_init(&attributes)
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETPGROUP)
        #if !os(Linux)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #endif
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    }

    /// C strings with nil behind the last one; to be freed.
    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func free(_ strings: [UnsafeMutablePointer<CChar>?]) {
        for index in unsafe strings.indices { unsafe Foundation.free(strings[index]) }
    }
}
