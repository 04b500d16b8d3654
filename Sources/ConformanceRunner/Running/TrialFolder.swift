internal import Foundation

/// A new folder, readable by its owner only.
struct TrialFolder {
    let path: String

    init(in parent: String) throws {
        path = URL(fileURLWithPath: parent).appendingPathComponent("conformance-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    func remove() {
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            // What cannot be removed from the folder of temporary files says nothing about the subject.
        }
    }
}
