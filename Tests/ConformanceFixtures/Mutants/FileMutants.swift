import Foundation
import SyncContract

/// A ``FileStore`` that breaks one sentence which a store in memory cannot break.
package struct FileMutant: Sendable, CustomStringConvertible {
    package let rule: String
    package let fault: String
    package let faults: FileStore.Faults

    package var description: String { "\(rule): \(fault)" }

    package func harness() -> FileStoreHarness { FileStoreHarness(name: fault, faults) }

    /// Whether the rule kills processes.
    package var needsProcesses: Bool {
        rule.contains("killed") || ["failure.disk-full", "durability.opened-by-another-process"].contains(rule)
    }

    private init(_ rule: String, _ fault: String, _ edit: (inout FileStore.Faults) -> Void = { _ in }) {
        var faults = FileStore.Faults()
        // Of a store that claims no encryption these rules are not asked.
        faults.claimsEncryption = rule.hasPrefix("encryption.")
        edit(&faults)
        self.rule = rule
        self.fault = fault
        self.faults = faults
    }

    private init(_ rule: String, _ fault: String, _ flag: WritableKeyPath<FileStore.Faults, Bool>) {
        self.init(rule, fault) { $0[keyPath: flag] = true }
    }

    /// Encrypts every place of the file with bytes of its own, the same ones each time.
    private static func addSameBytes(_ faults: inout FileStore.Faults) {
        faults.cipher = { bytes in
            bytes.enumerated()
                .map { place, byte in
                    var mixed = UInt64(place) &* 0x9E37_79B9_7F4A_7C15
                    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
                    return byte ^ UInt8(truncatingIfNeeded: mixed >> 56)
                }
        }
    }

    private static func forgetFailures(_ faults: inout FileStore.Faults) {
        faults.forgetsOnReading = { table, record in
            var record = record
            if table == SystemTables.operations.name { record["state"] = .int64(0) }
            return record
        }
    }

    private static func addConstant(_ faults: inout FileStore.Faults) { faults.cipher = { $0.map { $0 ^ 0x5C } } }

    package static let all: [FileMutant] = [
        FileMutant("durability.values", "forgets rows with a certain id") {
            $0.forgetsOnReading = { $1.id == "id7" ? nil : $1 }
        },
        FileMutant("durability.undeclared-keys", "forgets undeclared keys when it is closed") {
            $0.forgetsOnReading = { Record(id: $1.id, $1.fields.filter { $0.key.count > 1 }) }
        },
        FileMutant("durability.large-values", "opens with texts cut at 65,535 bytes") {
            $0.forgetsOnReading = { _, record in
                var record = record
                if let text = record["text"]?.stringValue { record["text"] = .string(String(text.prefix(65_535))) }
                return record
            }
        },
        FileMutant("durability.deleted-and-written-again", "forgets rows that were deleted and written again") {
            $0.forgetsOnReading = { $1["int"] == 2 ? nil : $1 }
        },
        FileMutant("durability.killed-states", "forgets when it is opened that operations have failed", forgetFailures),
        FileMutant("state.after-opening", "opens with operations that have failed as such that wait", forgetFailures),
        FileMutant("durability.killed-in-commit", "writes over its file", \.writesInPlace),
        FileMutant("schema.declared-in-another-order", "exchanges two columns when it is opened") {
            $0.forgetsOnReading = { _, record in
                var record = record
                (record["a"], record["b"]) = (record["b"], record["a"])
                return record
            }
        },
        FileMutant("schema.fewer-system-properties", "forgets versions when it is opened") {
            $0.forgetsOnReading = { Record(id: $1.id, $1.fields.filter { $0.key != "version" }) }
        },
        FileMutant("migration.keeps-casings", "writes ids as it compares them where it moves rows", \.foldsMovedIDs),
        FileMutant("migration.indexes", "leaves a column that is filled out of what it finds rows by") {
            $0.moves = { $0 == "status" ? nil : $1 }
        },
        FileMutant("durability.merges-and-deletes", "opens with nulls where values were cleared and others kept") {
            $0.forgetsOnReading = { _, record in
                var record = record
                if record["int"] == 99 { record["int"] = 7 }
                return record
            }
        },
        FileMutant("durability.system-tables", "forgets the operations when it is closed") {
            $0.forgetsOnReading = { $0 == "MS_TableOperations" ? nil : $1 }
        },
        FileMutant("durability.ids", "normalises ids when it is opened") {
            $0.forgetsOnReading = { _, record in
                var record = record
                record.id = record.id.stringValue.map { .string($0.precomposedStringWithCanonicalMapping) } ?? record.id
                return record
            }
        },
        FileMutant("durability.again-and-again", "forgets the oldest rows") {
            $0.forgetsOnReading = { $1["int"] == 0 && $1.id.stringValue?.hasPrefix("0-") == true ? nil : $1 }
        },
        FileMutant("durability.killed-keeps-writes", "writes its file when it is closed", \.writesOnCloseOnly),
        FileMutant("durability.killed-keeps-writes", "writes its file one transaction behind", \.writesOneBehind),
        FileMutant(
            "durability.killed-keeps-merges-and-deletes",
            "writes deletes to its file when it is closed",
            \.writesDeletesOnCloseOnly
        ),
        FileMutant("durability.killed-drops-unfinished", "writes its file inside the closure", \.writesInClosure),
        FileMutant(
            "durability.killed-keeps-inserts",
            "writes what is inserted to its file when it is closed",
            \.writesInsertsOnCloseOnly
        ),
        FileMutant("schema.retyped-column", "opens with columns of other types", \.acceptsAnyType),
        FileMutant("schema.changed-id-comparison", "opens with ids that compare in another way", \.acceptsAnyType),
        FileMutant("schema.undeclared-table-retyped", "declares a table anew that was away", \.acceptsAnyType),
        FileMutant("schema.retyped-column", "adds tables before it refuses a schema", \.touchesBeforeRefusing),
        FileMutant("schema.undeclared-column", "refuses to open without a column", \.refusesDroppedColumns),
        FileMutant("schema.adds-columns", "gives no null for a new column") {
            // A column that a row lacks is filled when it is opened; a value made up for it is as wrong as none.
            $0.forgetsOnReading = { _, record in
                var record = record
                if record["text"] == "x", record["int"] == nil { record["int"] = 0 }
                return record
            }
        },
        FileMutant(
            "durability.rolled-back-stays-away",
            "writes what was rolled back to its file",
            \.writesWhatIsRolledBack
        ),
        FileMutant("schema.retyped-as-any-other", "takes string, JSON and decimal for one another", \.mixesTextTypes),
        FileMutant("schema.declared-later", "forgets undeclared values when they are declared", \.forgetsDeclaredLater),
        FileMutant("schema.declared-later-unfit", "takes any value for a column declared later", \.takesUnfitValues),
        FileMutant("durability.made-over-another", "makes a store in the place of another", \.overwritesStores),
        FileMutant("durability.opened-twice", "opens a store that is open", \.opensTwice),
        FileMutant("durability.places-are-separate", "keeps the stores of all places in one file", \.sharesPlaces),
        FileMutant(
            "durability.killed-again-and-again",
            "loses the last transaction of every process",
            \.writesOneBehind
        ),
        FileMutant(
            "durability.killed-beside-reads",
            "writes its file before the closure has returned",
            \.writesInClosure
        ),
        FileMutant("durability.killed-after-close", "empties its file when it is closed", \.emptiesOnClose),
        FileMutant("encryption.killed-not-in-clear", "leaves everything in clear when it is killed"),
        FileMutant("schema.adds-tables", "refuses to open with a further table", \.refusesNewTables),
        FileMutant(
            "schema.retyped-empty-column",
            "opens with columns of other types when there are no rows",
            \.acceptsAnyTypeWithoutRows
        ),
        FileMutant(
            "schema.undeclared-table",
            "forgets the rows of tables that are not declared",
            \.forgetsUndeclaredTables
        ),
        FileMutant("migration.steps", "keeps the values of a column that is dropped", \.keepsDroppedColumns),
        FileMutant("migration.drops-tables", "keeps the rows of a table that is dropped", \.keepsDroppedTables),
        FileMutant("migration.once", "does not record the version", \.forgetsVersion),
        FileMutant("migration.newer", "opens what a newer version has migrated", \.opensNewerVersions),
        FileMutant("migration.failed", "drops the old table before its rows are moved", \.savesBeforeSteps),
        FileMutant(
            "migration.failed-in-another-table",
            "writes its file after each table that is migrated",
            \.savesAfterEachTable
        ),
        FileMutant(
            "migration.killed-in-another-table",
            "writes each table to its file when it is migrated",
            \.savesAfterEachTable
        ),
        FileMutant("migration.keeps-values", "cuts dates to milliseconds where it moves them") {
            $0.moves = { _, value in
                value.dateValue.map { .date(Timestamp(milliseconds: $0.milliseconds)) } ?? value
            }
        },
        FileMutant("migration.keeps-values", "leaves undeclared bytes where a table was") {
            $0.moves = { $0 == "b" ? nil : $1 }
        },
        FileMutant("migration.keeps-values", "makes binary numbers of decimal ones that it moves") {
            $0.moves = { _, value in
                guard let number = value.decimalValue, let binary = Double(number.text) else { return value }
                return DecimalText(shortestOf: binary).map(FieldValue.decimal) ?? value
            }
        },
        FileMutant("migration.translation", "does not call the translation", \.translatesNothing),
        FileMutant("migration.untranslated", "overlooks the changes that wait", \.overlooksWaitingChanges),
        FileMutant("changes.after-opening-again", "begins with all tables after it was opened", \.tellsWhenOpened),
        FileMutant("schema.adds-indexes", "leaves rows from before out of a new index") {
            $0.forgetsOnReading = { $1["text"] == "Milk" ? nil : $1 }
        },
        FileMutant(
            "read.expected-row-no-longer-declared",
            "overlooks the values of columns that are no longer declared",
            \.overlooksUndeclaredValues
        ),
        FileMutant("schema.attributes-changed", "refuses to open with a name on the wire", \.refusesWireNames),
        FileMutant("schema.declared-again", "brings back what was there when its column is declared again") {
            $0.forgetsOnReading = { _, record in
                var record = record
                if record["int"] == 9, record["text"] == "a" { record["int"] = 5 }
                return record
            }
        },
        FileMutant(
            "schema.declared-again-unfit",
            "takes any value for a column that is declared again",
            \.takesUnfitValues
        ),
        FileMutant("migration.exchanged-names", "loses the second of two columns that exchange their names") {
            $0.moves = { $0 == "second" ? nil : $1 }
        },
        FileMutant("migration.undeclared-keys", "loses an undeclared value whose key is renamed") {
            $0.moves = { $0 == "comment" ? nil : $1 }
        },
        FileMutant(
            "migration.one-after-the-other",
            "keeps the values of a column until it is declared again",
            \.keepsDroppedColumns
        ),
        FileMutant("migration.one-after-the-other", "runs the steps to all versions every time", \.forgetsVersion),
        FileMutant("encryption.nothing-in-clear", "writes Base64") {
            $0.cipher = { bytes in
                // Both ways: the JSON of a store is no Base64.
                Data(base64Encoded: Data(bytes)).map(Array.init) ?? Array(Data(bytes).base64EncodedData())
            }
        },
        FileMutant("encryption.nothing-in-clear", "writes hexadecimal digits") {
            $0.cipher = { bytes in
                guard bytes.first == UInt8(ascii: "{") else {
                    return stride(from: 0, to: bytes.count - 1, by: 2)
                        .compactMap { UInt8(String(decoding: bytes[$0...$0 + 1], as: UTF8.self), radix: 16) }
                }
                return bytes.flatMap { Array((($0 < 16 ? "0" : "") + String($0, radix: 16)).utf8) }
            }
        },
        FileMutant("encryption.numbers-not-in-clear", "hides letters and leaves digits in clear") {
            $0.cipher = {
                $0.map { (65...90).contains($0 & 0xDF) ? ($0 & 0x20) + 65 + (($0 & 0xDF) - 65 + 13) % 26 : $0 }
            }
        },
        FileMutant("encryption.search-index-not-in-clear", "writes the words of its index in clear"),
        FileMutant(
            "encryption.wrong-key-of-an-empty-store",
            "opens a store without rows with any key",
            \.acceptsAnyKeyWhenEmpty
        ),
        FileMutant("encryption.key-change", "loses the operations when the key changes", \.losesOperationsOnKeyChange),
        FileMutant("encryption.nothing-in-clear", "writes everything in clear"),
        FileMutant("encryption.names-not-in-clear", "writes the names of tables in clear"),
        FileMutant("encryption.nothing-in-clear", "writes its bytes backwards") {
            $0.cipher = { $0.reversed() }
        },
        FileMutant("encryption.deleted-not-in-clear", "keeps a journal in clear"),
        FileMutant("encryption.no-patterns", "adds a constant to every byte", addConstant),
        FileMutant("encryption.wrong-key", "opens with any key", \.acceptsAnyKey),
        FileMutant("encryption.wrong-key-touches-nothing", "writes a file when a key is wrong", \.touchesOnWrongKey),
        FileMutant(
            "durability.killed-anywhen",
            "writes one of two tables to its file ahead of the other",
            \.savesTablesOneByOne
        ),
        FileMutant("failure.disk-full", "takes no notice when its file cannot be written", \.overlooksFailedWrites),
        FileMutant(
            "durability.opened-by-another-process",
            "opens a store that another process has open",
            \.locksInThisProcessOnly
        ),
        FileMutant("search.index-after-opening", "leaves texts of several words out of an index when it is opened") {
            $0.forgetsOnReading = { $1["text"]?.stringValue?.contains(" ") == true ? nil : $1 }
        },
        FileMutant("search.long-texts-indexed-later", "indexes 64 words of a text from before") {
            $0.forgetsOnReading = { _, record in
                var record = record
                if let text = record["text"]?.stringValue {
                    record["text"] = .string(text.split(separator: " ").prefix(64).joined(separator: " "))
                }
                return record
            }
        },
        FileMutant(
            "failure.close-beside-work",
            "takes writes after it was closed, and forgets them",
            \.takesWritesWhenClosed
        ),
        FileMutant("search.killed-index", "writes its file when it is closed", \.writesOnCloseOnly),
        FileMutant("search.index-migrated", "folds texts that it moves") {
            $0.moves = { _, value in value.stringValue.map { .string($0.lowercased()) } ?? value }
        },
        FileMutant("encryption.killed-wrong-key", "empties a table when a key is wrong", \.emptiesTableOnWrongKey),
        FileMutant("encryption.same-content-differs", "encrypts a place in the same way in every store", addSameBytes),
        FileMutant("encryption.overwritten-differs", "encrypts a place in the same way each time", addSameBytes),
        FileMutant(
            "encryption.temporary-files-not-in-clear",
            "orders rows in a file without a name, in clear",
            \.sortsInFiles
        ),
        FileMutant("encryption.killed-changed-bytes", "does not see that a byte was changed", addConstant),
        FileMutant(
            "encryption.cut-files",
            "falls back on a copy of one table when its file is cut",
            \.keepsCopyOfOneTable
        ),
        FileMutant("encryption.changed-bytes", "does not see that a byte was changed", addConstant),
        FileMutant("encryption.moved-blocks", "does not see that a block is another one", addConstant),
        FileMutant("encryption.key-change", "keeps its content in clear when the key changes"),
    ]
}
