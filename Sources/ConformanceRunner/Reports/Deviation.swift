internal import Foundation

/// It is known, and accepted, that a subject does otherwise than a rule says.
public struct Deviation: Sendable, Hashable, Codable {
    /// The rule's id.
    public let rule: String
    /// Why that is accepted.
    public let reason: String

    /// Accepts what a rule finds.
    public init(rule: String, reason: String) {
        self.rule = rule
        self.reason = reason
    }

    /// Reads a file: a JSON array of objects with the members `rule` and `reason`.
    ///
    /// - Throws: ``UsageError`` when the file cannot be read or is something else, or a reason is empty.
    public static func read(from path: String) throws -> [Deviation] {
        let deviations: [Deviation]
        do {
            deviations = try JSONDecoder().decode([Deviation].self, from: try Data(contentsOf: URL(filePath: path)))
        } catch is DecodingError {
            throw UsageError(
                "'\(path)' is not a JSON array of objects such as {\"rule\": \"ID\", \"reason\": \"WHY\"}."
            )
        } catch {
            throw UsageError("'\(path)' cannot be read: \(error.localizedDescription).")
        }
        for deviation in deviations where deviation.reason.allSatisfy(\.isWhitespace) {
            throw UsageError("'\(path)' gives no reason for '\(deviation.rule)'.")
        }
        return deviations
    }
}

extension ConformanceReport {
    /// The report with known deviations taken into account.
    ///
    /// A rule that is named and does not hold is no longer broken; its reason is reported. A deviation whose rule holds
    /// has expired: it is reported, and the run is not passed until it is removed. One whose rule was not run, or was
    /// not applicable, says nothing.
    ///
    /// - Parameters:
    ///   - deviations: What is known.
    ///   - expire: Whether a deviation whose rule holds is reported; not for one that is known of many subjects.
    /// - Returns: The report that goes by them.
    public func accepting(_ deviations: [Deviation], expire: Bool = true) -> ConformanceReport {
        var report = self
        for deviation in deviations {
            guard let index = results.firstIndex(where: { $0.rule.id == deviation.rule }) else { continue }
            if results[index].differs {
                report.results[index].knownDeviation = deviation.reason
            } else if expire, results[index].outcome == .passed {
                report.expiredDeviations.append(deviation)
            }
        }
        return report
    }
}
