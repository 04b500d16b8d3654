import DatasyncEmulator
import Foundation
import ServerConformance
import Synchronization

extension ServerMutant {
    /// Servers that do otherwise than a rule says, and may.
    static let noted: [ServerMutant] = [
        answering(.datasync, "page.link-encoded", "sends links that are not encoded") { _, answer in
            answer.changeLink { $0.removingPercentEncoding ?? $0 }
        },
        answering(.datasync, "create.id-beyond-ascii", "stores a row whose id its Location cannot hold, and says 500") {
            request,
            answer in
            let isASCII = request.json["id"]?.string?.allSatisfy(\.isASCII) ?? true
            if request.method == "POST", !isASCII, answer.status == 201 { answer = EmulatorResponse(500) }
        },
        withOffsets(.datasync, "date.form"),
        withOffsets(.datasync, "date.kept"),
        withOffsets(.azureMobileApps, "date.form"),
        refusing(.datasync, "function.date-parts", "cannot take instants apart", 400) { $0.contains("month(") },
        refusing(.datasync, "function.substring", "cannot take texts apart", 500) { $0.contains("substring(") },
        refusing(.datasync, "function.rounding", "cannot round", 500) { $0.contains("floor(") },
        refusing(.datasync, "query.modulo", "has no remainder", 500) { $0.contains(" mod ") },
        refusing(.datasync, "date.cast", "compares instants in UTC only", 500) { $0.contains("+02:00") },
        answering(.datasync, "date.to-utc", "takes instants in UTC only") { request, answer in
            let date = request.json["date"]?.string ?? ""
            if date.contains("-05:30") { answer = EmulatorResponse(500) }
        },
        lateCommits(.datasync),
        lateCommits(.azureMobileApps),
    ]

    /// A server that writes an offset of zero for the Z.
    private static func withOffsets(_ serverProtocol: ServerProtocol, _ rule: String) -> ServerMutant {
        answering(serverProtocol, rule, "writes an offset of zero") { _, answer in
            answer = answer.withRows { row in
                for name in ["createdAt", "updatedAt", "date"] {
                    guard let text = row[name]?.string, text.hasSuffix("Z") else { continue }
                    row[name] = .string(text.dropLast() + "+00:00")
                }
            }
        }
    }

    /// A server that refuses some filters.
    private static func refusing(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ status: Int,
        _ isRefused: @escaping @Sendable (String) -> Bool
    ) -> ServerMutant {
        answering(serverProtocol, rule, fault) { request, answer in
            if let filter = request["$filter"], isRefused(filter) { answer = EmulatorResponse(status) }
        }
    }

    /// A server that takes stamps before it commits: every fifth row turns up later than others with later stamps.
    private static func lateCommits(_ serverProtocol: ServerProtocol) -> ServerMutant {
        let hidden = RememberedRows()
        let count = Mutex(0)
        return ServerMutant(serverProtocol, "concurrency.stamps", "commits later than it stamps") { request, emulator in
            let isLate =
                request.method == "POST"
                && count.withLock { count in
                    count += 1
                    return count % 5 == 0
                }
            if isLate, let id = request.json["id"]?.string { hidden.insert(id) }
            let answer = try await emulator.handle(request)
            if isLate, let id = request.json["id"]?.string {
                try await Task.sleep(for: .milliseconds(100))
                hidden.remove(id)
            }
            guard request.method == "GET", !request.isRow else { return answer }
            return answer.withoutRows { hidden.contains($0) }
        }
    }
}
