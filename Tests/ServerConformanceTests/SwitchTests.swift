import ConformanceRunner
import DatasyncEmulator
import Foundation
import SeededNumbers
import ServerConformance
import Testing

@Suite("What the emulator can be told to do, judged")
struct SwitchTests {
    /// Something that the emulator can be told to do, and what the kit makes of it.
    struct Switch: Sendable, CustomStringConvertible {
        let description: String
        var protocols = ServerProtocol.allCases
        /// The rules that are broken.
        var breaks: Set<String> = []
        /// Rules that may be broken besides: it depends on who is first.
        var mayBreak: Set<String> = []
        /// The rules that are noted, other than without the switch.
        var notes: Set<String> = []
        /// Rules that may be noted besides.
        var mayNote: Set<String> = []
        /// The rules that are noted without the switch and not with it.
        var holds: Set<String> = []
        /// The properties that are others than without the switch, with the beginnings of what they are.
        var properties: [String: String] = [:]
        /// The chapters that it can concern besides those of the rules named here; nil when it changes the server as a
        /// whole.
        var concerns: Set<String>? = []
        let configure: @Sendable (inout EmulatorConfiguration) -> Void

        /// The chapters of a protocol that are judged: what it can concern, and some that judge what every server does;
        /// all of them when everything is to be tried.
        func chapters(in serverProtocol: ServerProtocol) -> [String] {
            guard let concerns, SeededGenerator.rounds(1, all: 0) == 1 else { return [] }
            let rules = breaks.union(mayBreak).union(notes).union(mayNote).union(holds)
            let usual: Set = ["property", "version", "read", "replace", "patch", "delete", "undelete", "conflict"]
            let chosen = usual.union(concerns).union(rules.map { String($0.prefix { $0 != "." }) })
            return ServerRules.suite(for: serverProtocol).chapters.map(\.id).filter(chosen.contains)
        }
    }

    static let switches: [Switch] = [
        Switch(description: "pages of 7 rows", properties: ["page size": "7"], concerns: ["page"]) { $0.pageSize = 7 },
        Switch(
            description: "a largest $top of 60",
            protocols: [.datasync],
            properties: ["largest $top": "60"],
            concerns: ["page"]
        ) { $0.maximumTop = 60 },
        Switch(
            description: "a largest $top of 60, which is also that of all pages together",
            protocols: [.azureMobileApps],
            holds: ["page.link-works"],
            properties: ["largest $top": "60"]
        ) { $0.maximumTop = 60 },
        Switch(
            description: "stamps in microseconds",
            notes: ["date.filter-exact"],
            properties: ["stamps": "finer than the milliseconds"]
        ) { $0.store.stamps = .microseconds },
        Switch(
            description: "stamps in units of 100 nanoseconds",
            notes: ["date.filter-exact"],
            properties: ["stamps": "finer than the milliseconds"]
        ) { $0.store.stamps = .hundredNanoseconds },
        Switch(
            description: "late commits",
            notes: ["concurrency.stamps"],
            mayNote: ["concurrency.equal-inserts-status"],
            properties: ["stamps ahead of rows": ""]
        ) { $0.store.commitDelay = .milliseconds(20) },
        Switch(
            description: "late commits without a concurrency token",
            protocols: [.datasync],
            breaks: ["concurrency.equal-restores", "concurrency.equal-updates"],
            mayBreak: ["concurrency.equal-deletions", "concurrency.update-or-deletion", "concurrency.updates"],
            notes: ["concurrency.stamps"],
            mayNote: ["concurrency.equal-inserts-status"],
            properties: ["stamps ahead of rows": ""]
        ) {
            $0.store.commitDelay = .milliseconds(20)
            $0.store.hasConcurrencyToken = false
        },
        Switch(description: "nulls last", properties: ["nulls in an order": "last"], concerns: ["order"]) {
            $0.store.sortsNullsLast = true
        },
        Switch(
            description: "texts without regard to case",
            notes: ["query.text-case", "read.id-case"],
            properties: ["texts": "compared without regard to case"],
            concerns: ["function", "order"]
        ) { $0.store.ignoresCase = true },
        Switch(
            description: "answers with rows as they were sent",
            breaks: ["create.text", "create.wide-number"],
            notes: ["create.as-stored"]
        ) { $0.store.answersAsSent = true },
        Switch(
            description: "as genuine as can be",
            protocols: [.datasync],
            notes: [
                "conditional.update-list", "conditional.update-unquoted", "create.id-beyond-ascii",
                "date.unparsable", "input.broken-json-status", "input.wrong-id", "input.wrong-type-status",
            ],
            concerns: nil
        ) { $0.isGenuine = true },
        Switch(
            description: "the predecessor",
            protocols: [.datasync],
            notes: [
                "date.form", "page.link-encoded", "undelete.content", "undelete.put", "undelete.stays-deleted",
                "version.absent-served",
            ],
            mayNote: ["date.kept", "date.cut", "date.to-utc"],
            properties: ["known server": "Azure Mobile Apps for .NET"],
            concerns: nil
        ) { $0.edition = .predecessor },
        Switch(
            description: "the predecessor in protocol 2",
            protocols: [.azureMobileApps],
            notes: [
                "conditional.update-unquoted-current", "conflict.own-item", "create.id-form", "create.number-as-id",
                "create.reserved", "create.system-columns", "date.created-with", "date.form", "function.replace",
                "function.text-informative", "page.large-top", "page.link-signs-informative", "page.walk",
                "page.walk-count", "page.walk-deleted", "page.walk-order", "page.walk-skip", "page.walk-top",
                "patch.body-version", "patch.collection", "patch.date-texts", "patch.header-counts", "patch.reserved",
                "read.if-none-match-ignored", "tombstone.parameter-values", "undelete.post",
            ],
            mayNote: ["date.kept", "date.cut", "date.to-utc"],
            holds: [
                "conditional.update-list", "date.unparsable", "input.wrong-id", "input.wrong-type-status",
                "patch.no-columns", "query.broken-filter-status", "query.null-unequal",
            ],
            properties: [
                "columns in an order": "5", "comparisons in a filter": "", "known server": "Azure Mobile Apps for .NET",
                "largest $top": "128000", "longest address": "", "page size": "100",
            ],
            concerns: nil
        ) { $0.edition = .predecessor },
        Switch(
            description: "version 4 of the Node server",
            protocols: [.azureMobileApps],
            notes: ["delete.again", "page.no-link", "page.top", "page.walk-skip", "page.walk-top"],
            properties: ["known server": "Azure Mobile Apps for Node"],
            concerns: nil
        ) { $0.edition = .node4 },
    ]

    @Test("a store that gives rows ids of its own is told at once", arguments: ServerProtocol.allCases)
    func assignedIDs(_ serverProtocol: ServerProtocol) async throws {
        let error = await #expect(throws: ServerUnavailable.self) {
            _ = try await Self.report(serverProtocol) { $0.store.assignsIDs = true }
        }
        #expect(error?.description.contains("gives rows ids of its own") == true)
    }

    /// A switch and the protocol it is tried in.
    struct Case: Sendable, CustomStringConvertible {
        let change: Switch
        let serverProtocol: ServerProtocol

        var description: String { "\(change), protocol \(serverProtocol.rawValue)" }

        static let all = switches.flatMap { change in
            change.protocols.map { Case(change: change, serverProtocol: $0) }
        }
    }

    @Test("each breaks, notes or tells exactly what speaks of it", arguments: Case.all)
    func judged(_ tried: Case) async throws {
        let change = tried.change
        let plain = try await (tried.serverProtocol == .datasync ? Self.plain3 : Self.plain2).value
        let chapters = change.chapters(in: tried.serverProtocol)
        let report = try await Self.report(tried.serverProtocol, chapters, change.configure)
        let broken = Set(report.broken.map(\.rule.id))
        #expect(broken.isSuperset(of: change.breaks), "\(change.breaks.subtracting(broken)) must be broken")
        for result in report.broken where !change.breaks.union(change.mayBreak).contains(result.rule.id) {
            Issue.record("\(tried): \(result)")
        }
        let judged = Set(report.results.map(\.rule.id))
        let (noted, plainNoted) = (Self.noted(report), Self.noted(plain).intersection(judged))
        let both = change.breaks.union(change.mayBreak).union(change.mayNote)
        #expect(noted.subtracting(plainNoted).subtracting(both) == change.notes, "\(tried)")
        #expect(plainNoted.subtracting(noted).subtracting(both) == change.holds, "\(tried)")
        let others = report.properties.filter { property in
            !["deleted rows left", "stamps ahead of rows"].contains(property.name)
                && property.text != plain[property.name]
        }
        let isLate = change.notes.contains("concurrency.stamps")
        if judged.contains("concurrency.stamps") {
            #expect((report["stamps ahead of rows"]?.hasPrefix("none seen") == true) != isLate)
        }
        #expect(Set(others.map(\.name)) == Set(change.properties.keys).subtracting(["stamps ahead of rows"]))
        for (name, text) in change.properties { #expect(report[name]?.hasPrefix(text) == true, "\(name)") }
        for result in report.broken where result.rule.chapter.id == "concurrency" {
            #expect(result.description.contains("mark Version as a concurrency token"), "\(result)")
        }
    }

    /// The reports without a switch, made once.
    private static let plain3 = Task { try await report(.datasync) { _ in } }
    private static let plain2 = Task { try await report(.azureMobileApps) { _ in } }

    private static func report(
        _ serverProtocol: ServerProtocol,
        _ chapters: [String] = [],
        _ configure: (inout EmulatorConfiguration) -> Void
    ) async throws -> ConformanceReport {
        try await JudgedServer.with(serverProtocol, by: .memory, configured: configure) {
            try await $0.judge(chapters: chapters, seed: 1)
        }
    }

    /// The rules that a server does not keep and need not.
    private static func noted(_ report: ConformanceReport) -> Set<String> {
        let differing = report.results.filter { ["failed", "noted"].contains($0.outcome.status) && !$0.isBroken }
        return Set(differing.map(\.rule.id))
    }
}
