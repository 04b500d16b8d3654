import DurableFiles
import Foundation
import SQLCipherStore
import SealedSync
import SeededNumbers
import Testing

#if os(Linux) || os(macOS)
/// The power fails after each change that the disk is told, and what was not synchronized is gone, or there in parts. SQLite
/// has one default VFS in a process, so each story is played in a process of its own.
@Suite("A loss of power")
struct PowerCutTests {
    enum Name: String, CaseIterable {
        case creation, transactions, brieflyDurable, dataKeyRotation, revocation, slots, compaction, upgrade

        func story(_ seed: UInt64) -> any Story {
            switch self {
            case .creation: Creation()
            case .transactions: Transactions(seed: seed, durability: .full)
            case .brieflyDurable: Transactions(seed: seed, durability: .normal)
            case .dataKeyRotation: DataKeyRotation()
            case .revocation: Revocation()
            case .slots: SlotChanges()
            case .compaction: Rewriting(isUpgrade: false)
            case .upgrade: Rewriting(isUpgrade: true)
            }
        }
    }

    /// How many cuts of all stories look for unknown faults.
    private static let allCuts = 10_000

    @Test("at any instant leaves a store that opens, with all that was acknowledged", arguments: Name.allCases)
    func powerCuts(name: Name) async throws {
        let seed = SeededGenerator.seed()
        let cuts = SeededGenerator.rounds(60, all: Self.allCuts / Name.allCases.count)
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [name = name.rawValue as String, seed = seed as UInt64, cuts = cuts as Int] in
            try await Self.play(#require(Name(rawValue: name)), seed: seed, cuts: cuts)
        }
        let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
        print(lines.last { $0.hasSuffix("power cuts") } ?? "\(name): no power cuts")
    }

    /// Who goes on after a kill finds what the medium need not have. Each story is played once; from every instant at which a
    /// file has just got its name, its check goes on, as another process would, and the power fails in that.
    @Test(
        "after a kill, while the next process goes on, loses as little",
        arguments: [Name.creation, .dataKeyRotation, .revocation]
    )
    func powerCutsAfterKills(name: Name) async throws {
        let seed = SeededGenerator.seed()
        let rounds = SeededGenerator.rounds(1, all: 20)
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            [name = name.rawValue as String, seed = seed as UInt64, rounds = rounds as Int] in
            try await Self.playKills(#require(Name(rawValue: name)), seed: seed, rounds: rounds)
        }
        let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n")
        print(lines.last { $0.hasSuffix("power cuts") } ?? "\(name): no power cuts")
    }

    private static func playKills(_ name: Name, seed: UInt64, rounds: Int) async throws {
        let story = name.story(seed)
        let folder = try DiskFolder()
        try await story.prepare(Place(root: folder.url, fileSystem: FileSystem()))
        var disk = VolatileDisk(try folder.contents())
        let recording = try DiskRecording(of: folder.url)
        let place = Place(root: folder.url, fileSystem: recording.fileSystem)
        try await story.run(place) { recording.acknowledge($0) }
        var random = SeededGenerator(seed: seed)
        var (kills, cuts) = (0, 0)
        for (number, change) in recording.changes.enumerated() {
            disk.apply(change)
            guard let folderOfName = change.folderOfName else { continue }
            kills += 1
            try folder.write(disk.files)
            let before = recording.changes.count
            try await story.check(place, acknowledged: disk.acknowledged)
            var next = disk
            // Where names are on their way to the medium.
            var folders = [folderOfName]
            for (place, change) in recording.changes[before...].enumerated() {
                next.apply(change)
                if case .synchronized(let path) = change { folders.removeAll { $0 == path } }
                if let folder = change.folderOfName { folders.append(folder) }
                // Of two names, one may get there without the other: tried more often.
                let isOpen = change.folderOfName != nil && folders.count > 1
                let count = (isOpen ? 12 : place.isMultiple(of: 12) ? 1 : 0) * rounds
                for _ in 0..<count {
                    cuts += 1
                    let cutSeed = random.next()
                    do {
                        try await check(story, next, cutSeed)
                    } catch {
                        Issue.record(
                            """
                            \(name), seed \(seed), killed after change \(number + 1) (\(recording.changes[number].line)), \
                            a power cut after change \(place + 1) from there (seed \(cutSeed)), \
                            \(next.acknowledged) acknowledged: \(error)
                            \(recording.changes[before...(before + place)].suffix(12).map(\.line).joined(separator: "\n"))
                            """
                        )
                        return
                    }
                }
            }
        }
        try #require(kills > 2)
        print("\(name): \(kills) kills, \(cuts) power cuts")
    }

    private static func play(_ name: Name, seed: UInt64, cuts: Int) async throws {
        let story = name.story(seed)
        let (disk, changes) = try await record(story)
        try #require(changes.count > 10)
        var random = SeededGenerator(seed: seed)
        var done = 0
        while done < cuts {
            var disk = disk
            for (number, change) in changes.enumerated() {
                disk.apply(change)
                // A few are spread evenly over the changes; of many, the last round is a whole one, too.
                let isChosen = (number + 1) * cuts / changes.count > number * cuts / changes.count
                guard isChosen || cuts >= changes.count else { continue }
                done += 1
                let cutSeed = random.next()
                do {
                    try await check(story, disk, cutSeed)
                } catch {
                    Issue.record(
                        """
                        \(name), seed \(seed), a power cut after change \(number + 1) of \(changes.count) (seed \(cutSeed)), \
                        \(disk.acknowledged) acknowledged: \(error)
                        \(changes[max(0, number - 12)...number].map(\.line).joined(separator: "\n"))
                        """
                    )
                    return
                }
            }
        }
        print("\(name): \(changes.count) changes, \(done) power cuts")
    }

    /// Plays a story, and says what lay on the disk before and what was done.
    private static func record(_ story: some Story) async throws -> (VolatileDisk, [DiskChange]) {
        let folder = try DiskFolder()
        try await story.prepare(Place(root: folder.url, fileSystem: FileSystem()))
        let disk = VolatileDisk(try folder.contents())
        let recording = try DiskRecording(of: folder.url)
        try await story.run(Place(root: folder.url, fileSystem: recording.fileSystem)) { recording.acknowledge($0) }
        return (disk, recording.changes)
    }

    private static func check(_ story: some Story, _ disk: VolatileDisk, _ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try DiskFolder()
        try folder.write(disk.afterPowerCut(&random))
        try await story.check(Place(root: folder.url, fileSystem: FileSystem()), acknowledged: disk.acknowledged)
    }
}
#endif
