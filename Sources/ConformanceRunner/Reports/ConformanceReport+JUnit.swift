internal import Foundation

extension ConformanceReport {
    /// JUnit's XML: a suite for each chapter, a case for each rule.
    var junit: String {
        var lines = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
        let expired = expiredDeviations.count
        lines.append(
            "<testsuites name=\"\(escaped(subject))\" tests=\"\(results.count + expired)\""
                + " \(counts(results, moreFailures: expired))>"
        )
        if !properties.isEmpty {
            lines.append("  <properties>")
            lines += properties.map { "    <property name=\"\(escaped($0.name))\" value=\"\(escaped($0.text))\"/>" }
            lines.append("  </properties>")
        }
        for (chapter, results) in chapters {
            lines.append(
                "  <testsuite name=\"\(escaped(chapter.title))\" tests=\"\(results.count)\" \(counts(results))>"
            )
            lines += results.map(testCase)
            lines.append("  </testsuite>")
        }
        if expired > 0 {
            lines.append("  <testsuite name=\"Known deviations\" tests=\"\(expired)\" failures=\"\(expired)\">")
            lines += expiredDeviations.map { deviation in
                "    <testcase classname=\"deviation\" name=\"\(escaped(deviation.rule))\"><failure message=\"the rule"
                    + " holds; remove this deviation\">\(escaped(deviation.reason))</failure></testcase>"
            }
            lines.append("  </testsuite>")
        }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n") + "\n"
    }

    private func counts(_ results: [RuleResult], moreFailures: Int = 0) -> String {
        func broken(_ statuses: Set<String>) -> Int {
            results.count { $0.isBroken && statuses.contains($0.outcome.status) }
        }
        let skipped = results.count { !$0.isBroken && $0.outcome != .passed }
        let seconds = results.reduce(0) { $0 + $1.seconds }
        return "failures=\"\(broken(["failed"]) + moreFailures)\" errors=\"\(broken(["crashed", "timedOut"]))\""
            + " skipped=\"\(skipped)\" time=\"\(String(format: "%.3f", seconds))\""
    }

    private func testCase(_ result: RuleResult) -> String {
        let head =
            "    <testcase classname=\"\(escaped(result.rule.chapter.id))\" name=\"\(escaped(result.rule.id))\""
            + " time=\"\(String(format: "%.3f", result.seconds))\""
        let text = escaped(result.description)
        // JUnit has no word for what differs and may: it is skipped, with the whole text.
        guard result.isBroken || !result.differs else {
            return head + "><skipped message=\"\(escaped(result.knownDeviation ?? result.verdict))\">\(text)</skipped>"
                + "</testcase>"
        }
        return switch result.outcome {
        case .passed: head + "/>"
        case .notApplicable(let reason): head + "><skipped message=\"\(escaped(reason))\"/></testcase>"
        case .failed, .noted:
            head + "><failure message=\"\(escaped(result.rule.sentence))\">\(text)</failure></testcase>"
        case .crashed, .timedOut: head + "><error message=\"\(result.outcome.status)\">\(text)</error></testcase>"
        }
    }

    /// The text with XML's signs written out. What XML 1.0 cannot hold at all becomes a question mark.
    private func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case _ where scalar.isInvisible && scalar.value >= 32: result += scalar.writtenOut
            case _ where scalar.value < 32 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
