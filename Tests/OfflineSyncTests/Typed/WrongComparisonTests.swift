import ChildProcesses
import Foundation
import Testing

@Suite("What must not compile", .timeLimit(.minutes(5)))
struct WrongComparisonTests {
    /// Lines that are wrong, each beside right ones of the same look.
    private static let lines: [(wrong: String, right: String)] = [
        (#"_ = todos.where { $0.due == "2026-11-22" }"#, "_ = todos.where { $0.due == date }"),
        ("_ = todos.where { $0.due < name }", "_ = todos.where { $0.due < .now }"),
        ("_ = todos.where { $0.created > 5 }", "_ = todos.where { $0.created > date }"),
        ("_ = todos.where { $0.created == nil }", "_ = todos.where { $0.due == nil }"),
        ("_ = todos.where { $0.text == 5 }", "_ = todos.where { $0.text == name }"),
        (#"_ = todos.where { $0.complete == "true" }"#, "_ = todos.where { $0.complete == true }"),
        ("_ = todos.where { $0.count == 1.5 }", "_ = todos.where { $0.count == 1 }"),
        ("_ = todos.where { $0.price == Double(1) }", "_ = todos.where { $0.price == Decimal(1) }"),
        (#"_ = todos.where { $0.owner == "ann" }"#, "_ = todos.where { $0.owner == UUID() }"),
        ("_ = todos.where { $0.day == date }", "_ = todos.where { $0.day == Day(date) }"),
        ("_ = todos.where { $0.due == $0.text }", "_ = todos.where { $0.due == $0.created }"),
        (
            #"_ = todos.filtered(by: Column<Date>("due") == "x")"#,
            #"_ = todos.filtered(by: Column<Date>("due") == date)"#
        ),
        (#"_ = todos.filtered(by: untyped == name)"#, #"_ = todos.filtered(by: untyped == .string(name))"#),
        (#"_ = todos.where { $0.txt == "x" }"#, #"_ = todos.where { $0.text == "x" }"#),
        ("_ = todos.where { $0.plain == .food }", "_ = todos.where { $0.kind == .food }"),
        ("_ = todos.where { $0.kind == .middle }", "_ = todos.where { $0.kind.isAny(of: [.food, .fuel]) }"),
        ("_ = todos.where { $0.address == Address() }", "_ = todos.where { $0.kind != nil }"),
        (#"_ = todos.where { $0.count.contains("1") }"#, #"_ = todos.where { $0.text.contains("1") }"#),
        ("_ = todos.where { $0.text * 2 == 4 }", "_ = todos.where { $0.price * 2 == 4 }"),
        ("_ = todos.where { $0.count.year == 4 }", "_ = todos.where { $0.due.year == 4 }"),
        ("_ = todos.where { $0.count * $0.price > 3 }", "_ = todos.where { $0.count.decimal * $0.price > 3 }"),
        ("_ = todos.where { $0.count }", "_ = todos.where { $0.complete }"),
        ("_ = todos.where { $0.due && $0.complete }", "_ = todos.where { !$0.complete && $0.complete }"),
        (#"_ = todos.where { $0.kind.isAny(of: ["food"]) }"#, #"_ = todos.where { $0.text.isAny(of: ["food"]) }"#),
        (#"_ = todos.ordered(by: \.nothing)"#, #"_ = todos.ordered(by: \.text.folded)"#),
        (#"_ = todos.ordered(by: \.count.folded)"#, #"_ = todos.ordered(by: \.count)"#),
        (#"_ = others.ordered(by: \.due)"#, #"_ = others.ordered(by: \.name)"#),
        ("_ = todos.where { $0.syncState == .done }", "_ = todos.where { $0.syncState == .pending }"),
        ("_ = todos.where { $0.brand == Other().id }", "_ = todos.where { $0.brand == Brand().id }"),
        ("_ = try await todos.read(UUID())", "_ = try await brands.read(UUID())"),
        (#"try await brands.delete("x")"#, #"try await todos.delete("x")"#),
        (
            #"_ = try TableDefinition(TodoItem.self, .references(\.text, Brand.self))"#,
            #"_ = try TableDefinition(TodoItem.self, .references(\.brand, Brand.self))"#
        ),
        (#"_ = try await todos.sum(of: \.text)"#, #"_ = try await todos.sum(of: \.price)"#),
        (#"_ = try await todos.average(of: \.due)"#, #"_ = try await todos.average(of: \.count)"#),
        (#"_ = try await todos.sum(of: \.price, by: \.address)"#, #"_ = try await todos.sum(of: \.price, by: \.kind)"#),
        (#"_ = try await online.sum(of: \.price)"#, #"_ = try await todos.where { $0.complete }.max(of: \.price)"#),
        (
            #"let total: Int = try await todos.sum(of: \.price); _ = total"#,
            #"let total: Decimal = try await todos.sum(of: \.price); _ = total"#
        ),
        (
            #"let clause = "1 = 1"; _ = context.sql("SELECT * FROM Other WHERE " + clause)"#,
            #"let clause = "1 = 1"; _ = context.sql("SELECT * FROM \(others) WHERE name = \(clause)")"#
        ),
        (
            #"_ = context.sql("SELECT * FROM \(todos) WHERE kind = \(Plain.food)")"#,
            #"_ = context.sql("SELECT * FROM \(todos) WHERE kind = \(Kind.food) AND due < \(date)")"#
        ),
        (
            #"_ = MigrationStep.fillColumn("kind", in: "TodoItem") { _ in Plain.food }"#,
            #"_ = MigrationStep.fillColumn("kind", in: "TodoItem") { $0["due"] == .null ? Kind.food : Kind.fuel }"#
        ),
        (
            #"_ = MigrationStep.convertColumn("price", in: "TodoItem") { (old: Plain) in Decimal(1) }"#,
            #"_ = MigrationStep.convertColumn("price", in: "TodoItem") { (old: Double) in Decimal(old) }"#
        ),
        (
            "_ = todos.where { $0.kind == .food && $0.due < date && $0.count * $0.price > limit }",
            "_ = todos.where { $0.kind == .food && $0.due < date && $0.count.decimal * $0.price > limit }"
        ),
        (
            #"_ = try TableDefinition(TodoItem.self, .references(\.count, Other.self))"#,
            #"_ = try TableDefinition(TodoItem.self, .references(\.text, Other.self))"#
        ),
        (
            #"_ = try TableDefinition(TodoItem.self, .local(\.nothing))"#,
            #"_ = try TableDefinition(TodoItem.self, .local(\.count, \.address))"#
        ),
        ("_ = online.observe()", "_ = todos.observe()"),
        ("try await online.pull()", "try await todos.pull()"),
        ("try await context.pull(online.where { $0.complete })", "try await context.pull(todos.where { $0.complete })"),
        ("_ = try await todos.insert(Other())", "_ = try await others.insert(Other())"),
        (
            "_ = try await context.read { try $0.read(online.where { $0.complete }) }",
            "_ = try await context.read { try $0.read(todos.where { $0.complete }) }"
        ),
        (
            "_ = try await context.read { try $0.delete(todos.where { $0.complete }) }",
            "_ = try await context.write { try $0.delete(todos.where { $0.complete }) }"
        ),
    ]

    /// A program in which each line stands in a function of its own; the numbers of the lines.
    private static func program(_ lines: [String]) -> (text: String, numbers: [Int]) {
        var text = """
            import Foundation
            import ItemCoding
            import OfflineSync
            import SyncContract
            enum Plain: String, Codable, CaseIterable { case food, fuel }
            enum Kind: String, Codable, CaseIterable, ColumnValue { case food, fuel }
            struct Address: Codable, Sendable { var city = "" }
            struct Other: SyncItem { var id = ""; var name = "" }
            struct Brand: SyncItem { var id = UUID(); var name = "" }
            struct TodoItem: SyncItem {
                var id = "", text = "", complete = false, created = Date.now, count = 0, price = Decimal(1)
                var due: Date?, kind: Kind?, plain = Plain.food, address = Address(), owner = UUID(), day = Day(.now), brand: UUID?
            }

            """
        var numbers: [Int] = []
        for (index, line) in lines.enumerated() {
            numbers.append(text.count { $0 == "\n" } + 2)
            text += """
                func line\(index)(_ context: SyncContext, _ todos: SyncTable<TodoItem>, _ online: RemoteTable<TodoItem>,
                _ others: SyncTable<Other>, _ brands: SyncTable<Brand>, limit: Decimal, name: String, date: Date, untyped: Column<FieldValue>) async throws {
                \(line)
                }

                """
            numbers[index] += 1
        }
        return (text, numbers)
    }

    /// The lines with errors, and everything that the compiler said.
    private func compile(_ text: String) async throws -> (lines: Set<Int>, said: String) {
        let modules = try #require(Self.modules)
        let result = try await ChildProcess.run(
            .named(
                "swiftc",
                [
                    "-typecheck", "-parse-as-library", "-swift-version", "6", "-I", modules.path, "-diagnostic-style",
                    "llvm", "-",
                ],
                input: .text(text)
            )
        )
        let said = result.errors + result.output
        let lines = said.split(separator: "\n")
            .compactMap { line -> Int? in
                let parts = line.split(separator: ":")
                guard parts.count > 3, parts[3].hasSuffix("error") else { return nil }
                return Int(parts[1])
            }
        if result.status == 0 { #expect(lines.isEmpty) }
        return (Set(lines), said)
    }

    /// Where the modules that this test is built from are.
    private static var modules: URL? {
        var folder = (Bundle.main.executableURL ?? Bundle.main.bundleURL).deletingLastPathComponent()
        for _ in 0..<5 {
            let candidate = folder.appending(path: "Modules")
            if FileManager.default.fileExists(atPath: candidate.appending(path: "SyncContract.swiftmodule").path) {
                return candidate
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    @Test("wrong comparisons do not compile, right ones do")
    func comparisons() async throws {
        let right = try await compile(Self.program(Self.lines.map(\.right)).text)
        #expect(right.lines.isEmpty, "\(right.said)")

        let (text, numbers) = Self.program(Self.lines.map(\.wrong))
        let wrong = try await compile(text)
        for (number, line) in zip(numbers, Self.lines) {
            #expect(wrong.lines.contains(number), "this compiles: \(line.wrong)")
        }
        #expect(wrong.lines.isSubset(of: numbers), "\(wrong.said)")
        #expect(wrong.said.contains("a column is compared with values of its own type"))
    }
}
