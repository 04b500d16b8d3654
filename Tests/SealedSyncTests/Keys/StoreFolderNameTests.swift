import Foundation
import Testing

@testable import SealedSync

@Suite("A store folder by name")
struct StoreFolderNameTests {
    private let place = URL(filePath: "/place/", directoryHint: .isDirectory)

    @Test("is in the place for data, and a user's is another one below it")
    func paths() throws {
        #expect(try StoreFolder.named("todos", user: nil, below: place).url.path == "/place/todos")
        #expect(try StoreFolder.named("todos", user: "kate", below: place).url.path == "/place/todos/users/kate")
        // What services have as user ids, and what would mean something in a URL.
        for user in ["sid:7", "kate@example.org", "a b%20c?d#e", "Катя", "..."] {
            #expect(try StoreFolder.named("todos", user: user, below: place).url.path == "/place/todos/users/\(user)")
        }
    }

    @Test(
        "is refused where the name is a path, or none",
        arguments: [
            "", ".", "..", "/", "a/b", "../a", "a\\b", "a\0b", "a\nb", "\u{7F}", String(repeating: "é", count: 128),
        ]
    )
    func refusals(_ name: String) throws {
        for (store, user) in [(name, nil), ("todos", name)] as [(String, String?)] {
            let error = #expect(throws: SyncError.self) { try StoreFolder.named(store, user: user) }
            #expect(error?.code == .invalidParameter)
        }
        #expect(throws: Never.self) { try StoreFolder.named(String(repeating: "é", count: 127)) }
    }

    #if os(Linux)
    @Test("is below XDG_DATA_HOME, when that is an absolute path")
    func dataPlace() {
        let home = FileManager.default.homeDirectoryForCurrentUser.path
        #expect(StoreFolder.dataPlace(["XDG_DATA_HOME": "/data/of kate"]).path == "/data/of kate")
        for environment in [[:], ["XDG_DATA_HOME": ""], ["XDG_DATA_HOME": "data"], ["XDG_DATA_HOME": "~/data"]] {
            let expected = (home == "/" ? "" : home) + "/.local/share"
            #expect(StoreFolder.dataPlace(environment).path == expected)
        }
    }

    /// In a process of its own: the environment is that of the whole process.
    @Test("is opened by a context, and everything that is made for it is its owner's alone")
    func opening() async {
        await #expect(processExitsWith: .success) {
            let folder = try UserFolder()
            let data = folder.parent.appending(path: "data")
            try #require(unsafe setenv("XDG_DATA_HOME", data.path, 1) == 0)
            for user in [nil, "kate"] {
                let context = try await SyncContext.open(
                    .named("coupons", user: user),
                    schema: UserFolder.schema,
                    unlocker: .secretFile(folder.parent.appending(path: "user.secret"))
                )
                try await context.table("notes").insert(["text": .string(user ?? "nobody")], id: "a")
                await context.close()
            }
            for path in ["", "coupons", "coupons/users", "coupons/users/kate"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: data.appending(path: path).path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o700, "\(path)")
            }
            #expect(try StoreFolder.named("coupons").isOccupied)
            #expect(try StoreFolder.named("coupons", user: "kate").isOccupied)
            #expect(try !StoreFolder.named("coupons", user: "ben").isOccupied)
        }
    }
    #endif
}
