import Foundation
import Testing

@testable import DurableFiles

@Suite("The lock on a file")
struct FileLockTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("", to: "file")
        path = folder.path("file")
    }

    /// Whether somebody could lock the file just now.
    private func isFree(isShared: Bool = false) throws -> Bool {
        guard let lock = try FileLock(FileDescriptor(reading: path), isShared: isShared) else { return false }
        _ = consume lock
        return true
    }

    @Test("keeps others out as long as it lives, in the same process too")
    func exclusive() throws {
        let lock = try FileLock(FileDescriptor(reading: path))
        #expect(try !isFree())
        #expect(try !isFree(isShared: true))
        _ = consume lock
        #expect(try isFree())
    }

    @Test("a shared one lets other shared ones in")
    func shared() throws {
        let lock = try FileLock(FileDescriptor(reading: path), isShared: true)
        #expect(try isFree(isShared: true))
        #expect(try !isFree())
        _ = consume lock
    }

    @Test("is lifted although a program has a duplicate of the descriptor")
    func duplicate() throws {
        let descriptor = try FileDescriptor(reading: path)
        let duplicate = dup(descriptor.number)
        try #require(duplicate >= 0)
        defer { close(duplicate) }
        let lock = try FileLock(descriptor)
        #expect(try !isFree())
        _ = consume lock
        #expect(try isFree())
    }

    @Test("an open file is told from the one that has taken its place, from none, and from a link that leads to it")
    func identity() throws {
        let file = try FileDescriptor(reading: path)
        #expect(try file.isFile(at: path))
        let moved = folder.path("moved")
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        #expect(try !file.isFile(at: path))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: moved)
        #expect(try !file.isFile(at: path))
        try FileManager.default.removeItem(atPath: path)
        try folder.write("", to: "file")
        #expect(try !file.isFile(at: path))
    }
}
