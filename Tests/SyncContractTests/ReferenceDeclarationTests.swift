import SyncContract
import Testing

@Suite("Columns that refer to tables")
struct ReferenceDeclarationTests {
    @Test("are text, and their table is declared; it may come later, and be the same one")
    func validation() throws {
        let lists = TableDefinition("Lists", columns: [.init("name", .string)], assignsIDs: true)
        func schema(_ column: ColumnDefinition) throws -> StoreSchema {
            try StoreSchema([TableDefinition("Tasks", columns: [column]), lists])
        }
        #expect(try schema(.init("list", .string, references: "Lists")).tables.count == 2)
        #expect(try schema(.init("parent", .string, references: "Tasks")).tables.count == 2)
        #expect(throws: StoreError.self) { try schema(.init("list", .string, references: "Nowhere")) }
        #expect(throws: StoreError.self) { try schema(.init("list", .string, references: "lists")) }
        #expect(throws: StoreError.self) { try schema(.init("list", .int64, references: "Lists")) }
    }

    @Test("make tables different, and so does who assigns ids")
    func equality() {
        let plain = TableDefinition("Tasks", columns: [.init("list", .string)])
        #expect(plain != TableDefinition("Tasks", columns: [.init("list", .string)], assignsIDs: true))
        #expect(plain != TableDefinition("Tasks", columns: [.init("list", .string, references: "Tasks")]))
        #expect(!plain.assignsIDs && plain.columns[0].references == nil)
    }
}

@Suite("Indexes")
struct IndexDeclarationTests {
    @Test("are kept once each, and have columns that are declared")
    func validation() throws {
        func table(_ indexes: [[String]]) -> TableDefinition {
            TableDefinition("Tasks", columns: [.init("a", .string), .init("b", .string)], indexes: indexes)
        }
        #expect(table([["b"], ["a", "b"], ["b"], ["b", "a"]]).indexes == [["b"], ["a", "b"], ["b", "a"]])
        for wrong in [[[]], [["a"], []], [["c"]]] as [[[String]]] {
            let error = #expect(throws: StoreError.self) { try StoreSchema([table(wrong)]) }
            #expect(error?.code == .invalidSchema && error?.message.contains("'Tasks'") == true)
        }
    }
}
