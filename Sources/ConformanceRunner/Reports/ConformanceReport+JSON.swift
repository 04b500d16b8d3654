internal import Foundation

extension ConformanceReport {
    /// One JSON object.
    var json: String {
        get throws {
            let document = Document(
                kitVersion: Self.version,
                subject: subject,
                capabilities: capabilities.sorted(),
                platform: ProcessInfo.processInfo.operatingSystemVersionString,
                seed: seed,
                seconds: seconds,
                passed: isPassed,
                counts: Dictionary(
                    uniqueKeysWithValues: ["passed", "failed", "noted", "notApplicable", "crashed", "timedOut"]
                        .map { status in (status, results.count { $0.reportedStatus == status }) }
                ),
                properties: properties.isEmpty
                    ? nil : Dictionary(properties.map { ($0.name, $0.text) }) { $1 },
                results: results.map(Entry.init),
                expiredDeviations: expiredDeviations.isEmpty ? nil : expiredDeviations
            )
            return try encodedJSON(document)
        }
    }

    private struct Document: Encodable {
        var kitVersion: Int
        var subject: String
        var capabilities: [String]
        var platform: String
        var seed: UInt64
        var seconds: Double
        var passed: Bool
        var counts: [String: Int]
        var properties: [String: String]?
        var results: [Entry]
        var expiredDeviations: [Deviation]?
    }

    private struct Entry: Encodable {
        var id: String
        var chapter: String
        var level: String
        var sentence: String
        var procedure: String
        var status: String
        var broken: Bool
        var checkedWithoutCapability: Bool
        var reason: String?
        var knownDeviation: String?
        var seconds: Double
        var slow: Bool?
        var seed: UInt64?
        var violations: [Violation]

        init(_ result: RuleResult) {
            let finished = FinishedRule(result)
            id = result.rule.id
            chapter = result.rule.chapter.id
            level = result.rule.level.name
            sentence = result.rule.sentence
            procedure = result.rule.procedure
            status = result.reportedStatus
            broken = result.isBroken
            checkedWithoutCapability = result.checkedWithoutCapability
            reason = finished.reason
            knownDeviation = result.knownDeviation
            seconds = result.seconds
            slow = result.isSlow ? true : nil
            seed = result.seed
            violations = finished.violations
        }
    }
}

/// One JSON object in one line.
func encodedJSON(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
}
