internal import DatasyncEmulator
internal import Foundation
internal import SeededNumbers

/// Seeds a table from a file and reads pages of 1,000 rows at several depths, as pulls do.
struct EmulatorPages {
    let rows: Int
    let rounds: Int

    /// The time of one page; of a request that looks at most rows.
    private static let pageLimit = 10.0
    private static let scanLimit = 500.0

    func measure() async throws -> [GrowthCheck] {
        let table = EmulatedTableDefinition(
            "TodoItem",
            columns: ["text": .init(.text), "complete": .init(.boolean), "priority": .init(.integer)]
        )
        var configuration = EmulatorConfiguration(tables: [table])
        configuration.pageSize = 1_000
        let emulator = Emulator(configuration)
        let file = Self.file(rows: rows)
        let load = try await timed { try emulator.load(file) }
        // Limits are for 100,000 rows; reading a file takes as long as it is.
        var checks = [
            GrowthCheck("rows from a file", load.milliseconds / 1_000, limit: 5 * Double(rows) / 100_000, "s")
        ]
        for (name, query, limit) in queries {
            let request = EmulatorRequest("GET", "/tables/TodoItem?" + query)
            var times: [Double] = []
            for _ in 0..<rounds {
                var status = 0
                times.append(
                    try await timed { status = try await emulator.handle(request).status }.milliseconds
                )
                guard status == 200 else { throw Unanswered(query: query, status: status) }
            }
            checks.append(GrowthCheck(name, times.sorted()[times.count / 2], limit: limit, "ms"))
        }
        return checks
    }

    private var queries: [(name: String, query: String, limit: Double)] {
        let order = "$orderby=updatedAt,id&__includedeleted=true"
        func page(from place: Int) -> String {
            "\(order)&$filter=updatedAt%20ge%20\(Self.stamp(place))"
        }
        let window = "updatedAt%20ge%20\(Self.stamp(0))%20and%20updatedAt%20lt%20\(Self.stamp(rows))"
        return [
            ("page at the start", page(from: 0), Self.pageLimit),
            ("page in the middle", page(from: rows / 2), Self.pageLimit),
            ("page at the end", page(from: rows - 1_000), Self.pageLimit),
            (
                "page by id within a window",
                "$orderby=id&$filter=\(window)%20and%20id%20gt%20'\(Self.id(rows / 2))'&__includedeleted=true",
                Self.pageLimit
            ),
            ("page beside a condition", page(from: rows / 2) + "%20and%20complete", Self.pageLimit),
            ("page after a skip of nearly all", "\(order)&$skip=\(rows - 1_000)", Self.pageLimit),
            ("page with the count of all", "\(page(from: rows / 2))&$count=true", Self.pageLimit),
            ("page of live rows after a skip", "$orderby=updatedAt&$skip=\(rows / 2)", Self.scanLimit),
            ("count of a condition", "$top=0&$count=true&$filter=priority%20lt%205", Self.scanLimit),
        ]
    }

    /// A file of rows such as a server has them, of which some are deleted.
    private static func file(rows: Int) -> Data {
        var generator = SeededGenerator(seed: Workload.seed)
        var text = "{\"TodoItem\": ["
        for place in 0..<rows {
            if place > 0 { text += "," }
            text += """
                \n{"id": "\(id(place))", "text": "A thing to do, number \(place)", "complete": \(place % 2 == 0), \
                "priority": \(Int.random(in: 0..<10, using: &generator)), "updatedAt": "\(stamp(place))", \
                "version": "AAAAAAAA\(place)", "deleted": \(place % 10 == 0)}
                """
        }
        return Data((text + "\n]}\n").utf8)
    }

    /// Ids in another order than that of the stamps.
    private static func id(_ place: Int) -> String {
        let mixed = UInt64(place) &* 0x9E37_79B9_7F4A_7C15
        return String(mixed, radix: 16)
    }

    /// A row a second.
    private static func stamp(_ place: Int) -> String {
        let date = Date(timeIntervalSince1970: 1_700_000_000 + Double(place))
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    private struct Unanswered: Error, CustomStringConvertible {
        let query: String
        let status: Int

        var description: String { "the emulator answered \(status) to \(query)" }
    }
}

extension Duration {
    fileprivate var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1_000 + Double(attoseconds) / 1e15
    }
}
