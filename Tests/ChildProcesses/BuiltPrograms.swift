package import Foundation

extension ChildProcess {
    /// A program of this package beside the test bundle, where the build puts both.
    ///
    /// - Throws: ``Failure`` when it was not built.
    package static func built(_ name: String) throws -> URL {
        var folder = (Bundle.main.executableURL ?? Bundle.main.bundleURL).deletingLastPathComponent()
        // On some platforms the bundle is a folder of its own inside the products' folder.
        for _ in 0..<5 {
            let candidate = folder.appending(path: name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        throw Failure(description: "\(name) was not built")
    }
}
