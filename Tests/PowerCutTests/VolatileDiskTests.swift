import SeededNumbers
import Testing

@Suite("The disk that forgets")
struct VolatileDiskTests {
    /// What may lie on a disk after some changes, whatever chance says.
    private func outcomes(_ changes: [DiskChange], _ before: [String: [UInt8]?] = [:]) -> Set<[String: [UInt8]?]> {
        var disk = VolatileDisk(before)
        for change in changes { disk.apply(change) }
        var random = SeededGenerator(seed: 1)
        return Set((0..<200).map { _ in disk.afterPowerCut(&random) })
    }

    @Test("keeps what was synchronized, the content and the name each for itself")
    func synchronized() {
        let made: [DiskChange] = [.created("a", isFolder: false), .wrote("a", at: 0, [1, 2])]
        #expect(outcomes(made + [.synchronized("a"), .synchronized("")]) == [["a": [1, 2]]])
        #expect(outcomes(made + [.synchronized("a")]) == [[:], ["a": [1, 2]]])
        let withoutContent = outcomes(made + [.synchronized("")])
        #expect(withoutContent.isSuperset(of: [["a": []], ["a": [1, 2]]]))
        #expect(withoutContent.allSatisfy { $0.keys.elementsEqual(["a"]) })
    }

    @Test("loses any part of what was not, and in any order")
    func parts() {
        let before: [String: [UInt8]?] = ["a": [0, 0, 0]]
        let changes: [DiskChange] = [.wrote("a", at: 0, [1]), .wrote("a", at: 1, [2]), .resized("a", 2)]
        let found = Set(outcomes(changes, before).compactMap { $0["a"].flatMap(\.self) })
        #expect(found.isSuperset(of: [[0, 0, 0], [1, 0, 0], [0, 2, 0], [1, 2, 0], [0, 2], [1, 2]]))
    }

    @Test("takes no renaming apart, and loses what lies in a folder with its name")
    func names() {
        #expect(outcomes([.renamed("a", to: "b")], ["a": [1], "b": [2]]) == [["a": [1], "b": [2]], ["b": [1]]])
        let nested: [DiskChange] = [
            .created("f", isFolder: true), .created("f/a", isFolder: false), .synchronized("f/a"), .synchronized("f"),
        ]
        #expect(outcomes(nested) == [[:], ["f": nil, "f/a": []]])
        #expect(outcomes(nested + [.synchronized("")]) == [["f": nil, "f/a": []]])
    }
}
