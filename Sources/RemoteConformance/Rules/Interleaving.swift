internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

extension RemoteRules {
    static let interleaving: [RemoteRule] = [
        rule(
            "pull.while-others-write",
            "whatever is written meanwhile;",
            in: "SyncRemote.page",
            "Another client inserts, changes, deletes and brings back rows at random between the pages of five pulls, in pages"
                + " of 1, 3, 7 and 100; once all is settled, one more pull ends with what the back end has."
        ) { trial in
            var random = trial.trial.random()
            for size in [1, 3, 7, 100] {
                let trial = try await trial.anew()
                var writer = Writer(trial, &random)
                try await writer.write(8)
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                for _ in 0..<5 {
                    try await replica.pull { _ in
                        // Fewer changes than a page has rows: nobody is promised that a pull ends while ever more comes.
                        if writer.random.chance(size == 1 ? 30 : 60) { try await writer.write(1) }
                    }
                    try await writer.write(2)
                }
                try await trial.world.settle()
                try await replica.pull()
                replica.expectSame(
                    as: try await trial.world.rows(),
                    "pulls, \(words(size)), while another client writes"
                )
            }
        },
        rule(
            "pull.one-instant",
            "whatever is written meanwhile;",
            in: "SyncRemote.page",
            "Another client writes 25 rows at one instant, and changes some of them at another one after each page, in pages of"
                + " 1, 3, 7, 100 and any number: nothing is missing."
        ) { trial in
            for size in pageSizes {
                let trial = try await trial.anew()
                let ids = (0..<25).map { "row-\($0)" }
                try await trial.world.write(ids.map { .insert(.item($0)) })
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                let world = trial.world
                try await replica.pull { page in
                    guard page < 4 else { return }
                    let some = ids.enumerated().filter { $0.offset % 4 == page }.map(\.element)
                    try await world.write(some.map { .change($0, ["number": .double(Double(page))]) })
                }
                try await replica.pull()
                replica.expectSame(as: try await trial.world.rows(), "rows of one instant, \(words(size))")
            }
        },
        rule(
            "pull.late-commit",
            "whatever is written meanwhile;",
            in: "SyncRemote.page",
            "A write begins and is held back while others are written after it and pulled; then it becomes visible: the next"
                + " pull brings it, in pages of 1, 7 and any number."
        ) { trial in
            for (number, size) in [nil, 1, 7].enumerated() {
                let id = { (row: String) in "l\(number)-\(row)" }
                try await trial.world.write([.insert(.item(id("first")))])
                let commitInsert = try await trial.world.hold(.insert(.item(id("late"))))
                let commitChange = try await trial.world.hold(.change(id("first"), ["text": "late"]))
                try await trial.world.write((0..<8).map { .insert(.item(id("\($0)"))) })
                var replica = Replica(trial.remote, trial.trial, pageSize: size)
                try await replica.pull()
                try await trial.world.write([.change(id("3"), ["text": "after"])])
                try await replica.pull()
                try await commitInsert()
                try await commitChange()
                try await replica.pull()
                replica.expectSame(as: try await trial.world.rows(), "a pull after late commits, \(words(size))")
            }
        },
    ]
}

/// Another client that writes what chance says.
private struct Writer {
    let world: any RemoteWorld
    let deletes: Bool
    var random: SeededRandom
    var written = 0

    /// A writer with numbers of its own.
    init(_ trial: RemoteTrial, _ random: inout SeededRandom) {
        world = trial.world
        deletes = trial.keepsDeletedRows
        self.random = SeededRandom(seed: random.next())
    }

    mutating func write(_ count: Int) async throws {
        for _ in 0..<count {
            let rows = try await world.rows()
            let live = rows.filter { !$0.isDeleted }.compactMap(\.id.stringValue).sorted()
            let dead = rows.filter(\.isDeleted).compactMap(\.id.stringValue).sorted()
            written += 1
            let change: BackEndChange =
                if deletes, !dead.isEmpty, random.chance(10) {
                    .restore(random.pick(dead))
                } else if deletes, live.count > 4, random.chance(20) {
                    .delete(random.pick(live))
                } else if live.count > 2, random.chance(50) {
                    .change(random.pick(live), ["number": .double(Double(written))])
                } else {
                    .insert(.item("w\(UInt16.random(in: 0...UInt16.max, using: &random))-\(written)"))
                }
            try await world.write([change])
        }
    }
}
