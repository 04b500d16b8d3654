internal import ConformanceRunner
internal import Foundation
internal import SyncContract

/// One run of one rule for stores.
typealias StoreTrial = Trial<StoreSubject>

extension Trial where Subject == StoreSubject {
    /// Where the trial's store lies; another name gives another place.
    func place(_ name: String = "store") throws -> StoreLocation {
        let path = URL(fileURLWithPath: folder).appendingPathComponent(name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return StoreLocation(folder: path)
    }

    /// The first place that is not in use yet.
    private func newPlace() throws -> StoreLocation {
        var number = 1
        var name = "store"
        while FileManager.default.fileExists(atPath: URL(fileURLWithPath: folder).appendingPathComponent(name).path) {
            number += 1
            name = "store-\(number)"
        }
        return try place(name)
    }

    /// A new store, which is closed after the rule.
    func makeStore(
        _ tables: [TableDefinition] = TableDefinition.standard,
        at place: StoreLocation? = nil
    ) async throws -> any SyncContextDataSource {
        try await makeStore(StoreSchema(tables), at: place)
    }

    /// A new store with a schema, which is closed after the rule.
    func makeStore(
        _ schema: StoreSchema,
        at place: StoreLocation? = nil
    ) async throws -> any SyncContextDataSource {
        let store = try await subject.make(schema, place ?? newPlace())
        closeAfterwards(store)
        return store
    }

    /// Opens the store that was closed at a place.
    func reopen(
        _ tables: [TableDefinition] = TableDefinition.standard,
        at place: StoreLocation? = nil
    ) async throws -> any SyncContextDataSource {
        try await reopen(StoreSchema(tables), at: place)
    }

    /// Opens the store that was closed at a place, with a schema, and with what translates.
    func reopen(
        _ schema: StoreSchema,
        translating translation: (any QueueTranslation)? = nil,
        at place: StoreLocation? = nil
    ) async throws -> any SyncContextDataSource {
        let store = try await required("reopenStore") {
            let place = try place ?? self.place()
            guard let translation else { return try await self.subject.reopen(schema, place) }
            return try await self.subject.reopenTranslating(schema, translation, place)
        }
        closeAfterwards(store)
        return store
    }

    /// Closes a store that is to be opened again.
    func close(_ store: any SyncContextDataSource) async throws {
        try await required("closeStore") { try await self.subject.close(store) }
    }

    /// A rule that runs because a capability is declared cannot be left out because the harness lacks a function.
    private func required<Value>(_ function: String, _ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch is Unsupported where rule.level.capability != nil {
            throw StoreError(
                .internal,
                "'\(rule.level.capability ?? "")' is declared, so the harness needs '\(function)'"
            )
        }
    }

    private func closeAfterwards(_ store: any SyncContextDataSource) {
        afterwards { [subject] in
            do {
                try await subject.close(store)
            } catch {
                // Closing is not what this rule judges; rules of their own do.
            }
        }
    }

    /// Reports when a closure does not throw a `StoreError` with one of the given codes.
    func expectError(
        _ codes: StoreError.Code...,
        from input: String,
        _ body: () async throws -> Void
    ) async throws {
        let expected = codes.map { ".\($0)" }.joined(separator: " or ")
        do {
            try await body()
            report(input, expected: "the error \(expected)", got: "no error")
        } catch let error as StoreError {
            expect(codes.contains(error.code), input, expected: "the error \(expected)", got: brief(error))
        } catch let error as Unsupported {
            throw error
        } catch {
            report(input, expected: "the error \(expected)", got: brief(error))
        }
    }

    /// Reports when two rows differ, a null from a value that is absent too. Nil stands for no row.
    ///
    /// - Returns: Whether it was right.
    @discardableResult
    func expectRow(
        _ got: Record?,
        _ expected: Record?,
        _ input: @autoclosure () -> String
    ) -> Bool {
        expect(got == expected, input(), expected: shown(expected, not: got), got: shown(got, not: expected))
        return got == expected
    }

    /// Reports when two lists of rows differ, order included.
    func expectRows(
        _ got: [Record],
        _ expected: [Record],
        _ input: @autoclosure () -> String
    ) {
        guard got != expected else { return }
        if got.map(\.id) != expected.map(\.id) {
            return report(input(), expected: "the ids \(shown(expected.map(\.id)))", got: shown(got.map(\.id)))
        }
        for (row, wanted) in zip(got, expected) {
            guard expectRow(row, wanted, input()) else { return }
        }
    }

    /// Reports when the ids of rows differ from the given ones, order included.
    func expectIDs(_ got: [Record], _ expected: [RecordID], _ input: @autoclosure () -> String) {
        expect(got.map(\.id) == expected, input(), expected: shown(expected), got: shown(got.map(\.id)))
    }

    /// Writes rows and reports when one does not come back as it must, read by id and by query, in a transaction of its
    /// own and in the one that wrote it.
    func expectStored(
        _ records: [Record],
        _ expected: [Record]? = nil,
        in table: TableDefinition,
        _ store: any SyncContextDataSource
    ) async throws {
        let expected = expected ?? records.map { table.filled($0) }
        let within = try await store.write { transaction in
            try transaction.upsert(records, into: table.name)
            return try records.map { try transaction.record($0.id, in: table.name) }
        }
        let (byID, all) = try await store.read { reader in
            (try records.map { try reader.record($0.id, in: table.name) }, try reader.records(Query(table.name)))
        }
        for (index, row) in expected.enumerated() {
            // What is wrong in one way of reading mostly is in the others; the first one says it.
            for (way, got) in [
                ("in the same transaction", within[index]), ("by id", byID[index]),
                ("by query", all.first { $0.id == row.id }),
            ] {
                let input = "upsert \(shown(records[index])), read \(way)"
                guard expectRow(got, row, input) else { break }
            }
        }
    }
}

extension Record {
    /// This record without the columns that are null.
    var withoutNulls: Record {
        var record = Record(id: id, fields.filter { !$0.value.isNull })
        record.syncState = syncState
        return record
    }
}

extension SyncContextDataSource {
    /// - Throws: ``Unsupported`` for a store that is not there any more when it was closed.
    func requireDurability() throws {
        guard capabilities.contains(.durable) else { throw Unsupported("'durable' is not declared") }
    }
}
