import SeededNumbers
import SyncContract
import Testing

@testable import OfflineSync

@Suite("A sieve of ids")
struct IDSieveTests {
    @Test("misses no id that comes again, in whatever case, and seldom takes another one for it")
    func again() {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for count in [1, 2, 15, 16, 1_000] {
            let ids: [RecordID] = (0..<count)
                .map { number in
                    let digits = String(random.next(), radix: 36)
                    return number.isMultiple(of: 7) ? .int64(Int64(number)) : .string("Id-\(digits)-\(number)")
                }
            var sieve = IDSieve(count: count)
            let mistaken = ids.count { sieve.mayHave($0) }
            #expect(mistaken == 0, "seed \(seed)")
            let again = ids + ids.compactMap { $0.stringValue.map { .string($0.uppercased()) } }
            let missed = again.filter { !sieve.mayHave($0) }
            #expect(missed.isEmpty, "seed \(seed)")
        }
    }
}
