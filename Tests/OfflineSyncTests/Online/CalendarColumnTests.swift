import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import SyncContract
import Testing

@Suite("Days and times of day on a server")
struct CalendarColumnTests {
    struct Shift: SyncItem, Equatable {
        var id = ""
        var day: Day
        var starts: TimeOfDay
        var ends: TimeOfDay?
        var until: Day?
    }

    /// Servers that have types of their own for them, and servers that have text.
    enum Server: CaseIterable {
        case typed, genuine, untyped, node

        var isTyped: Bool { self == .typed || self == .genuine }
    }

    private func context(_ server: Server) throws -> (Emulator, SyncContext) {
        let columns: EmulatedTableDefinition.Columns =
            server.isTyped
            ? ["day": .day, "starts": .time, "ends": .time.optional, "until": .day.optional]
            : ["day": .text, "starts": .text, "ends": .text.optional, "until": .text.optional]
        var configuration = EmulatorConfiguration(
            dialect: server == .node ? .azureMobileApps : .datasync,
            tables: [EmulatedTableDefinition("Shift", columns: columns)]
        )
        configuration.isGenuine = server == .genuine
        let emulator = Emulator(configuration)
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: server == .node ? .azureMobileApps : .datasync,
            transport: EmulatorTransport(emulator)
        )
        let comparison: IDComparison = server == .node ? .asciiCaseInsensitive : .exact
        // A server that has text wants literals of text.
        let table =
            server.isTyped || server == .node
            ? try TableDefinition(Shift.self, .idComparison(comparison))
            : TableDefinition(
                "Shift",
                columns: ["day", "starts", "ends", "until"].map { ColumnDefinition($0, .string) },
                idComparison: comparison
            )
        let store = MemoryStore(try StoreSchema([table]))
        return (emulator, SyncContext(store: store, remote: remote))
    }

    private static func shift(_ number: Int) throws -> Shift {
        Shift(
            id: "\(number)",
            day: try #require(Day(year: 2026, month: 11, day: 20 + number)),
            starts: try #require(TimeOfDay(hour: 8 + number, minute: 30)),
            ends: number == 0 ? nil : TimeOfDay(hour: 17, minute: number, second: 1, millisecond: 250),
            until: number == 1 ? Day("2026-12-24") : nil
        )
    }

    @Test("are written, read and compared, there as here", arguments: Server.allCases)
    func compared(_ server: Server) async throws {
        let (emulator, context) = try context(server)
        let (shifts, online) = (try context.table(Shift.self), try context.remoteTable(Shift.self))
        for number in 0..<3 { try await shifts.insert(Self.shift(number)) }
        #expect(try await context.push().pushed == 3)
        #expect(emulator.rows(in: "Shift").map { $0["day"] } == ["2026-11-20", "2026-11-21", "2026-11-22"])
        #expect(try await online.read() == (0..<3).map(Self.shift))
        let (day, christmas) = (try #require(Day("2026-11-21")), try #require(Day("2026-12-24")))
        let time = try #require(TimeOfDay("09:30"))
        func check(_ ids: [String], _ condition: (Columns<Shift>) -> QueryPredicate) async throws {
            #expect(try await shifts.where(condition).read().map(\.id) == ids)
            #expect(try await online.where(condition).read().map(\.id) == ids, "\(condition(Columns()))")
        }
        try await check(["0"]) { $0.day < day }
        try await check(["1", "2"]) { $0.day >= day }
        try await check(["1"]) { $0.day == day }
        try await check(["0", "2"]) { $0.day != day }
        try await check(["1"]) { $0.until == christmas }
        try await check(["0", "2"]) { $0.until == nil }
        try await check(["0", "1"]) { $0.day.isAny(of: [day, Self.day("2026-11-20")]) }
        try await check(["0", "2"]) { $0.day == Self.day("2026-11-20") || $0.day == Self.day("2026-11-22") }
        try await check(["0", "1"]) { $0.starts <= time }
        try await check(["2"]) { !($0.starts <= time) && $0.ends != nil }
        try await check(["1"]) { $0.ends == TimeOfDay("17:01:01.250") }
        try await check(["0"]) { $0.day < day && $0.starts < time && $0.ends == nil }
        #expect(try await online.ordered(by: \.day, .descending).read().map(\.id) == ["2", "1", "0"])

        // A pull of a part asks the server in the same words.
        let part = shifts.where { $0.day >= day }
        try await shifts.forcePurge()
        try await part.pull()
        #expect(try await shifts.read().map(\.id) == ["1", "2"])
        try await shifts.update("1") { $0.until = nil }
        #expect(try await context.push().pushed == 1)
        #expect(try await online.read("1")?.until == nil)
    }

    @Test("nine days are a condition of a pull that the server takes", arguments: [Server.typed, .genuine])
    func nineDays(_ server: Server) async throws {
        let (_, context) = try context(server)
        let shifts = try context.table(Shift.self)
        for number in 0..<3 { try await shifts.insert(Self.shift(number)) }
        #expect(try await context.push().pushed == 3)
        try await shifts.forcePurge()
        let days = (1...9).map { Self.day("2026-11-2\($0)") }
        try await shifts.where { $0.day.isAny(of: days) }.pull(options: .init(pageSize: 1))
        #expect(try await shifts.read().map(\.id) == ["1", "2"])
    }

    private static func day(_ text: String) -> Day { Day(text) ?? Day(.distantPast) }
}
