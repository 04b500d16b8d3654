#if SecretService && KernelKeyring && TPM
import ChildProcesses
import Foundation
import SecretServiceKeys
import Testing

/// A bus of its own with GNOME's service on it, whose default collection is open. Nobody is there to answer a prompt.
actor SecretServiceSession {
    static let collection = "/org/freedesktop/secrets/collection/login"
    private static let service = "/org/freedesktop/secrets"
    private static let interface = "org.freedesktop.Secret"

    nonisolated let folder: TestFolder
    nonisolated var address: String { "unix:path=\(folder.path("bus"))" }
    private let bus: ChildProcess
    private var daemon: ChildProcess?

    init() async throws {
        folder = try TestFolder()
        // No services that it could start: neither the user's own, nor a window that asks.
        let configuration = """
            <busconfig><type>session</type><listen>unix:path=\(folder.path("bus"))</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
            <allow own="*"/></policy></busconfig>
            """
        try configuration.write(toFile: folder.path("bus.conf"), atomically: false, encoding: .utf8)
        bus = try ChildProcess(
            .named("dbus-daemon", ["--config-file=\(folder.path("bus.conf"))", "--nofork", "--print-address=1"])
        )
        try #require(await bus.firstLine().hasPrefix(address))
        try await startDaemon()
    }

    nonisolated func unlocker(label: String = "", mayPrompt: Bool = true) -> SecretServiceUnlocker {
        SecretServiceUnlocker(label: label, mayPrompt: mayPrompt, busAddress: address)
    }

    private var environment: [String: String] {
        [
            "DBUS_SESSION_BUS_ADDRESS": address, "HOME": folder.url.path(), "XDG_DATA_HOME": folder.path("data"),
            "XDG_RUNTIME_DIR": folder.url.path(), "PATH": "/usr/bin:/bin",
        ]
    }

    func startDaemon() async throws {
        daemon = try ChildProcess(
            .named(
                "gnome-keyring-daemon",
                [
                    "--foreground", "--components=secrets", "--unlock",
                    "--control-directory=\(folder.path("control"))",
                ],
                environment: environment,
                input: .text("password")
            )
        )
        let appeared = try await ChildProcess.run(
            .named(
                "gdbus",
                ["wait", "--session", "--timeout", "60", "org.freedesktop.secrets"],
                environment: environment
            )
        )
        try #require(appeared.status == 0, "\(appeared.errors)")
    }

    func stopDaemon() async throws {
        let daemon = try #require(daemon)
        daemon.signal(SIGTERM)
        _ = await daemon.result()
    }

    func lock() async throws {
        try await call(Self.service, "Service.Lock", "['\(Self.collection)']")
    }

    /// Writes down the prompts that anybody asks for, and each ``lock()``.
    func watchPrompts() async throws -> ChildProcess {
        let watch = try ChildProcess(
            .named(
                "dbus-monitor",
                ["--address", address, "interface='\(Self.interface).Prompt'", "member='Lock'"],
                environment: environment
            )
        )
        // What the bus says last to one that it makes a listener.
        try #require(await watch.output(contains: "member=NameLost") != nil)
        return watch
    }

    /// How many items the collection has.
    func itemCount() async throws -> Int {
        let items = try await call(
            Self.collection,
            "org.freedesktop.DBus.Properties.Get",
            "\(Self.interface).Collection",
            "Items"
        )
        return items.components(separatedBy: "\(Self.collection)/").count - 1
    }

    @discardableResult
    private func call(_ path: String, _ method: String, _ arguments: String...) async throws -> String {
        let method = method.hasPrefix("org.") ? method : "\(Self.interface).\(method)"
        let result = try await ChildProcess.run(
            .named(
                "gdbus",
                ["call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", path, "--method", method]
                    + arguments,
                environment: environment
            )
        )
        try #require(result.status == 0, "\(result.errors)")
        return result.output
    }
}
#endif
