import Foundation
import ConformanceFixtures
import ReferenceStore
import StoreConformance
import StoreHarnesses
import SyncContract

// A store author's own program, as the documentation shows it; which store it judges comes from the first argument,
// because tests need many of them.
let subject = CommandLine.arguments.dropFirst().first ?? ""
if subject == "page" {
    try printPage(Array(CommandLine.arguments.dropFirst(2)))
    exit(0)
}
let options: ConformanceOptions
do {
    options = try ConformanceOptions(arguments: CommandLine.arguments.dropFirst(2))
} catch {
    print(error)
    exit(64)
}

/// Prints the page that holds the answers in files against each other; the arguments are names and files by turns.
func printPage(_ arguments: [String]) throws {
    let summaries = try stride(from: 0, to: arguments.count - 1, by: 2)
        .map { index in
            try ReportSummary(arguments[index], json: try Data(contentsOf: URL(fileURLWithPath: arguments[index + 1])))
        }
    print(ReportSummary.page("The stores at hand", madeBy: "make store-results", summaries), terminator: "")
}

/// A harness that cannot make what the processes of a rule make.
struct OneTableHarness: StoreHarness {
    let name = "FileStore with one table"
    private let harness = FileStoreHarness()

    func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> FileStore {
        guard schema.tables.count == 1 else { throw Unsupported("it makes stores with one table") }
        return try await harness.makeStore(schema, at: place)
    }
}

func status() async -> Int32 {
    var faults = Faults()
    switch subject {
    case "hangs": faults.store.sleepsForever = true
    case "blocks": faults.store.blocksForever = true
    case "local time": faults = .inLocalTime
    case "traps":
        // Only one rule of the chapter reads with the id it traps at.
        faults.record = { id, table, inner in
            if id == "trap" || id == "B" { fatalError("this store traps") }
            return try inner.record(id, in: table)
        }
    case "toils":
        // Work of the processor, not time: it takes as long as the machine wants.
        faults.record = { id, table, inner in
            let end = clock() + clock_t(CLOCKS_PER_SEC) / 2
            while clock() < end {}
            return try inner.record(id, in: table)
        }
    case "queue": return await ConformanceMain.run(QueueStoreHarness(), options)
    case "memory": return await ConformanceMain.run(MemoryStoreHarness(), options)
    case "encrypted": return await ConformanceMain.run(EncryptedStoreHarness(), options)
    case "log": return await ConformanceMain.run(LogStoreHarness(), options)
    case "file": return await ConformanceMain.run(FileStoreHarness(), options)
    case "file, to be opened again":
        var faults = FileStore.Faults()
        faults.endsWithFailedWrite = true
        return await ConformanceMain.run(FileStoreHarness(faults), options)
    case "file, one table": return await ConformanceMain.run(OneTableHarness(), options)
    default:
        if let mutant = Mutant.all.first(where: { $0.fault == subject }) {
            return await ConformanceMain.run(mutant.harness(), options)
        }
        if let mutant = FileMutant.all.first(where: { $0.fault == subject }) {
            return await ConformanceMain.run(mutant.harness(), options)
        }
    }
    return await ConformanceMain.run(MutantHarness(name: subject, faults: faults), options)
}

exit(await status())
