internal import ConformanceRunner
internal import Foundation
internal import QueryEvaluation
internal import SyncContract

// What becomes of an encrypted store whose files were changed.
extension StoreRules {
    static let integrity: [StoreRule] = [
        rule(
            "encryption.changed-bytes",
            "and bytes that were changed there are an error, never other data.",
            in: "StoreCapabilities",
            "Changes one byte of the closed store at 24 random places, one at a time, opens and reads everything.",
            needs: "encrypted"
        ) { trial in
            var random = trial.random()
            let rows = (0..<60)
                .map { Record(id: .string("\($0)"), ["bytes": .bytes(Array(repeating: UInt8($0), count: 500))]) }
            try await trial.writeAndClose(TableDefinition.standard, rows)
            let expected = try QueryEvaluator(.items)
                .evaluate(Query("items"), over: rows.map { TableDefinition.items.filled($0) })
            let place = try trial.place()
            let names = try await trial.subject.files(place).filter { !$0.value.isEmpty }.keys.sorted()
            for number in 0..<24 {
                let name = names[number % names.count]
                try await trial.expectNoOtherData(expected, copy: number, of: name) { data in
                    let position = Int.random(in: 0..<data.count, using: &random)
                    data[position] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
                    return "change byte \(position)"
                }
            }
        },
        rule(
            "encryption.moved-blocks",
            "and bytes that were changed there are an error, never other data.",
            in: "StoreCapabilities",
            "Exchanges two blocks of the closed store, or copies one over another, blocks of 1,024 and of 4,096 bytes at 24 random"
                + " places, one pair at a time, opens and reads everything.",
            needs: "encrypted"
        ) { trial in
            var random = trial.random()
            let rows = (0..<24)
                .map { Record(id: .string("\($0)"), ["bytes": .bytes(Array(repeating: UInt8($0), count: 20_000))]) }
            try await trial.writeAndClose(TableDefinition.standard, rows)
            let expected = try QueryEvaluator(.items)
                .evaluate(Query("items"), over: rows.map { TableDefinition.items.filled($0) })
            let place = try trial.place()
            let names = try await trial.subject.files(place).filter { $0.value.count > 100_000 }.keys.sorted()
            guard !names.isEmpty else { throw Unsupported("no file of the store is as large as its content") }
            for number in 0..<24 {
                let size = number % 2 == 0 ? 4_096 : 1_024
                let name = names[number % names.count]
                try await trial.expectNoOtherData(expected, copy: number, of: name) { data in
                    let count = data.count / size
                    let first = Int.random(in: 0..<count, using: &random) * size
                    let second = Int.random(in: 0..<count, using: &random) * size
                    let (one, other) = (data[first..<first + size], data[second..<second + size])
                    data.replaceSubrange(first..<first + size, with: other)
                    guard number % 4 < 2 else { return "copy \(size) bytes from \(second) to \(first)" }
                    data.replaceSubrange(second..<second + size, with: one)
                    return "exchange \(size) bytes at \(first) and \(second)"
                }
            }
        },
    ]
}

extension Trial where Subject == StoreSubject {
    /// Opens a copy of the closed store in which a file was changed, reads everything, and reports other rows.
    ///
    /// - Parameters:
    ///   - expected: What was written.
    ///   - number: Which copy it is.
    ///   - name: The file's name.
    ///   - change: Changes the file's bytes, and says what it did.
    /// - Throws: `Unsupported` when the file is not in the place's folder.
    fileprivate func expectNoOtherData(
        _ expected: [Record],
        copy number: Int,
        of name: String,
        _ change: (inout Data) -> String
    ) async throws {
        let (place, copy) = (try place(), try place("copy-\(number)"))
        for path in try FileManager.default.contentsOfDirectory(atPath: place.folder) {
            try FileManager.default.copyItem(atPath: place.folder + "/" + path, toPath: copy.folder + "/" + path)
        }
        let url = URL(fileURLWithPath: copy.folder).appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw Unsupported("the store's files do not lie in the place's folder")
        }
        var data = try Data(contentsOf: url)
        let what = change(&data)
        try data.write(to: url)
        do {
            let store = try await reopen(at: copy)
            let got = try await store.read(Query("items")).records
            expectRows(got, expected, "\(what) of '\(name)', open and read")
            try await close(store)
        } catch is StoreError {
            // Saying that something is wrong is right.
        }
    }
}
