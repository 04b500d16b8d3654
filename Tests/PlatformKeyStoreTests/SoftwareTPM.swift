#if SecretService && KernelKeyring && TPM
import ChildProcesses
import Foundation
import TPMKeys

/// A TPM in software. Its state lies in a folder; another folder is another TPM, or the same one after it was cleared.
final class SoftwareTPM: Sendable {
    private let folder: TestFolder
    private let process: ChildProcess

    /// Starts one; with the state of another one that has ended, that one is started anew.
    init(in folder: TestFolder) async throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder.path("state"),
            withIntermediateDirectories: true
        )
        let socket = folder.path("tpm")
        process = try ChildProcess(
            .named(
                "swtpm",
                [
                    "socket", "--tpm2", "--tpmstate", "dir=\(folder.path("state"))", "--server",
                    "type=unixio,path=\(socket)", "--ctrl", "type=unixio,path=\(socket).ctrl", "--pid",
                    "file=\(folder.path("pid"))", "--flags", "not-need-init,startup-clear",
                ]
            )
        )
        // Written once the program listens on both; a socket has a name before anybody listens there.
        let listening = folder.path("pid")
        try await looking { FileManager.default.fileExists(atPath: listening) || !process.isRunning }
    }

    var unlocker: TPMUnlocker { TPMUnlocker(transport: "swtpm:path=\(folder.path("tpm"))", label: "TPM") }

    /// Turns it off.
    func stop() async throws {
        process.signal(SIGTERM)
        _ = await process.result()
        for name in ["tpm", "tpm.ctrl", "pid"] where FileManager.default.fileExists(atPath: folder.path(name)) {
            try FileManager.default.removeItem(atPath: folder.path(name))
        }
    }
}
#endif
