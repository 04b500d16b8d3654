import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Lending the elements of an array")
struct BorrowedTests {
    private struct Uneven: Equatable {
        var number: Int
        var flag: Bool
    }

    private func lent<Value>(_ values: [Value]) -> [Value] {
        var lent: [Value] = []
        Borrowed.forEach(values) { lent.append($0.value) }
        return lent
    }

    @Test("gives each of them, in order, whatever size they have")
    func sizes() {
        #expect(lent([] as [Int]) == [])
        #expect(lent((0...255).map(UInt8.init)) == (0...255).map(UInt8.init))
        #expect(lent([1, nil, 3] as [Int?]) == [1, nil, 3])
        let uneven = (0..<100).map { Uneven(number: $0, flag: $0.isMultiple(of: 3)) }
        #expect(lent(uneven) == uneven)
        let records = (0..<100).map { Record(id: .int64($0), ["text": .string("a text of more than 15 bytes: \($0)")]) }
        #expect(lent(records) == records)
    }

    @Test("ends with the first error")
    func failure() {
        struct Refusal: Error {}
        var count = 0
        #expect(throws: Refusal.self) {
            try Borrowed.forEach([1, 2, 3]) { element in
                count += 1
                if element.value == 2 { throw Refusal() }
            }
        }
        #expect(count == 2)
    }
}
