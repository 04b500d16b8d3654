import FileSystemRecording
import Foundation
import Testing

@testable import DurableFiles

@Suite("Changes of files")
struct FileSystemTests {
    private let folder: TemporaryFolder
    private let recorder: FileSystemRecorder
    private var fileSystem: FileSystem { recorder.fileSystem }

    init() throws {
        folder = try TemporaryFolder()
        recorder = FileSystemRecorder(in: folder.url)
    }

    @Test("a new file is empty, for its owner alone, and takes no place that is taken, be it by a link to nothing")
    func creation() throws {
        let file = try fileSystem.create(folder.path("file"))
        #expect(try file.status().st_mode & 0o7777 == 0o600)
        #expect(try folder.text("file") == "")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"),
            withDestinationPath: folder.path("nothing")
        )
        for name in ["file", "link"] {
            #expect(failure { _ = try fileSystem.create(folder.path(name)) } == ["open", "\(EEXIST)"])
        }
        #expect(recorder.takeLines() == ["create file"])
        #expect(try folder.names() == ["file", "link"])
    }

    @Test("folders are made for their owner alone, and their names are brought to the medium, be they there already")
    func foldersAround() throws {
        try fileSystem.createFolders(folder.path("a/b/c"))
        let made = ["create a", "synchronize .", "create a/b", "synchronize a", "create a/b/c", "synchronize a/b"]
        #expect(recorder.takeLines() == made)
        for name in ["a", "a/b", "a/b/c"] {
            #expect(try FileDescriptor(reading: folder.path(name)).status().st_mode & 0o7777 == 0o700)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path("a"))
        try fileSystem.createFolders(folder.path("a"))
        #expect(recorder.takeLines() == ["synchronize ."])
        #expect(try FileDescriptor(reading: folder.path("a")).status().st_mode & 0o7777 == 0o755)
        try folder.write("", to: "file")
        #expect(failure { try fileSystem.createFolders(folder.path("file")) } == ["mkdir", "\(EEXIST)"])
        #expect(failure { try fileSystem.createFolders(folder.path("file/a")) } == ["mkdir", "\(ENOTDIR)"])
    }

    @Test("a synchronization asks the medium, and fails where there is none")
    func synchronizationOfAPipe() throws {
        let path = folder.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let pipe = try FileDescriptor(opening: path, flags: O_RDWR, in: fileSystem)
        do throws(SystemCallFailure) {
            try pipe.synchronize()
            Issue.record("a pipe is on no medium")
        } catch {
            #expect(error.call == "fsync")
        }
        #expect(recorder.takeLines() == [], "what failed is not told")
    }

    @Test("a folder is for its owner alone from its first instant on, whatever the process's mask")
    func folderWithoutMask() async throws {
        let path = folder.path("a/b")
        await #expect(processExitsWith: .success) { [path = path as String] in
            umask(0)
            let fileSystem = FileSystem { call in
                guard case .created(let path) = call else { return }
                var status = stat()
                precondition(unsafe lstat(path, &status) == 0 && status.st_mode & 0o7777 == 0o700)
            }
            try fileSystem.createFolders(path)
        }
    }

    @Test("what replaces a file takes its place, and the name is brought to the medium")
    func replacement() throws {
        try folder.write("old", to: "file")
        try folder.write("new", to: "temporary")
        try fileSystem.replace(folder.path("file"), with: folder.path("temporary"))
        #expect(try folder.text("file") == "new")
        #expect(try folder.names() == ["file"])
        #expect(recorder.takeLines() == ["rename temporary file", "synchronize ."])
    }

    @Test("what is published gets a name that is free, and the name is brought to the medium")
    func publication() throws {
        try folder.write("new", to: "temporary")
        try fileSystem.publish(folder.path("temporary"), as: folder.path("file"))
        #expect(try folder.text("file") == "new")
        #expect(try folder.names() == ["file"])
        #expect(recorder.takeLines() == ["link temporary file", "remove temporary", "synchronize ."])
    }

    @Test("what is published never replaces anything, and stays where it was then")
    func publicationRefused() throws {
        try folder.write("old", to: "file")
        try folder.write("new", to: "temporary")
        let found = failure { try fileSystem.publish(folder.path("temporary"), as: folder.path("file")) }
        #expect(found == ["link", "\(EEXIST)"])
        #expect(try folder.text("file") == "old")
        #expect(try folder.text("temporary") == "new")
        #expect(recorder.takeLines() == [])
    }

    @Test(
        "where there are no hard links, what is published is renamed, and replaces nothing either, be it a link to nothing"
    )
    func publicationWithoutLinks() throws {
        try folder.write("old", to: "file")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"),
            withDestinationPath: folder.path("nothing")
        )
        try folder.write("new", to: "temporary")
        for name in ["file", "link"] {
            let found = failure { try fileSystem.publishByRenaming(folder.path("temporary"), as: folder.path(name)) }
            #expect(found == ["link", "\(EEXIST)"])
        }
        #expect(recorder.takeLines() == [])
        #expect(try folder.text("file") == "old")
        try fileSystem.publishByRenaming(folder.path("temporary"), as: folder.path("free"))
        #expect(try folder.text("free") == "new")
        #expect(try folder.names() == ["file", "free", "link"])
        #expect(recorder.takeLines() == ["rename temporary free"])
    }

    @Test("removing what is not there is no error, and is not reported")
    func removal() throws {
        try folder.write("", to: "file")
        for _ in 0..<2 { try fileSystem.remove(folder.path("file")) }
        #expect(recorder.takeLines() == ["remove file"])
    }

    @Test("a folder is for its owner alone, and is removed only when nothing lies in it")
    func folders() throws {
        try fileSystem.createFolder(folder.path("inner"))
        try folder.write("", to: "inner/file")
        #expect(failure { try fileSystem.createFolder(folder.path("inner")) } == ["mkdir", "\(EEXIST)"])
        #expect(failure { try fileSystem.removeFolder(folder.path("inner")) } == ["rmdir", "\(ENOTEMPTY)"])
        try fileSystem.remove(folder.path("inner/file"))
        try fileSystem.removeFolder(folder.path("inner"))
        #expect(recorder.takeLines() == ["create inner", "remove inner/file", "remove inner"])
    }

    @Test("writing and synchronizing are reported, each when it is done")
    func content() throws {
        let file = try fileSystem.create(folder.path("file"))
        try file.write(Array("content".utf8))
        try file.synchronize()
        try fileSystem.synchronize(folder.path("file"))
        #expect(try folder.text("file") == "content")
        #expect(recorder.takeLines() == ["create file", "write file", "synchronize file", "synchronize file"])
    }

    @Test("synchronizing asks the system: what cannot be synchronized is an error, and is not reported")
    func synchronizing() throws {
        #expect(failure { try fileSystem.synchronize("/dev/null") }?.first == "fsync")
        #expect(failure { try FileDescriptor(opening: "/dev/null", flags: O_RDWR).synchronize() }?.first == "fsync")
        #expect(recorder.takeLines() == [])
    }

    @Test("a file is read from its start, on from where it was, and from an offset, until it ends")
    func reading() throws {
        try folder.write("0123456789", to: "file")
        let file = try FileDescriptor(reading: folder.path("file"))
        var buffer = [UInt8](repeating: 0, count: 6)
        func text(_ count: Int) -> String { String(decoding: buffer.prefix(count), as: UTF8.self) }
        var count = unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
        #expect(text(count) == "012345")
        count = unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0) }
        #expect(text(count) == "6789")
        count = unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0, at: 3) }
        #expect(text(count) == "345678")
        count = unsafe try buffer.withUnsafeMutableBytes { unsafe try file.read(into: $0, at: 10) }
        #expect(count == 0)
        #expect(try FileSystem.prefix(of: folder.path("file"), count: 4) == Array("0123".utf8))
        #expect(try FileSystem.prefix(of: folder.path("file"), count: 40).count == 10)
    }

    @Test("no descriptor is handed on to a program that this process starts")
    func notInherited() throws {
        let file = try fileSystem.create(folder.path("file"))
        let reading = try FileDescriptor(reading: folder.path("file"))
        for number in [file.number, reading.number] { #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
    }

    @Test("reading goes on where the system gives a part at a time, as a pipe does that holds less")
    func readingInParts() async throws {
        let path = folder.path("pipe")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        await #expect(processExitsWith: .success) { [path = path as String] in
            // Whoever reads too little ends the writer, and not the process.
            signal(SIGPIPE, SIG_IGN)
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
            Thread.detachNewThread {
                do {
                    try FileDescriptor(opening: path, flags: O_WRONLY).write(bytes)
                } catch {
                    // What has arrived tells.
                }
            }
            try #require(FileSystem.prefix(of: path, count: bytes.count) == bytes)
        }
    }

    @Test("the folder of a path", arguments: [("/a/b", "/a"), ("/a", "/"), ("a", "."), ("a/b/c", "a/b")])
    func folderOfPath(path: String, folder: String) {
        #expect(FileSystem.folder(of: path) == folder)
    }

    private func failure(_ body: () throws -> Void) -> [String]? {
        do {
            try body()
            return nil
        } catch let failure as SystemCallFailure {
            return [failure.call, "\(failure.number)"]
        } catch {
            return ["\(error)"]
        }
    }
}
