import Foundation
import ConformanceFixtures
import ReferenceStore
import StoreConformance
import SyncContract

// A store author's own program, as the documentation shows it; which store it judges comes from the first argument,
// because tests need many of them.
let subject = CommandLine.arguments.dropFirst().first ?? ""
let options: ConformanceOptions
do {
    options = try ConformanceOptions(arguments: CommandLine.arguments.dropFirst(2))
} catch {
    print(error)
    exit(64)
}

func status() async -> Int32 {
    var faults = Faults()
    switch subject {
    case "hangs": faults.store.sleepsForever = true
    case "blocks": faults.store.blocksForever = true
    case "traps":
        // Only one rule of the chapter reads with the id it traps at.
        faults.record = { id, table, inner in
            if id == "trap" || id == "B" { fatalError("this store traps") }
            return try inner.record(id, in: table)
        }
    case "queue": return await ConformanceMain.run(QueueStoreHarness(), options)
    case "file": return await ConformanceMain.run(FileStoreHarness(), options)
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
