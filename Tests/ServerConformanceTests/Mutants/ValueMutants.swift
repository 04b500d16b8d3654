import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of values on their ways in and out, of what clients go on by, and of links.
    static let values: [ServerMutant] = [
        sending(.datasync, "replace.kept", "takes spaces off the texts of replacements") { name, value in
            name == "text" ? .string((value.string ?? "").trimmingCharacters(in: .whitespaces)) : value
        },
        sending(.datasync, "replace.kept", "takes texts for dates that look like some") { _, value in
            value == "2024-03-04T05:06:07+02:00" ? "2024-03-04T03:06:07+00:00" : value
        },
        sending(.datasync, "replace.kept", "cuts the milliseconds of instants in replacements") { name, value in
            guard name == "date", let text = value.string else { return value }
            return .string(text.prefix(19) + "Z")
        },
        sending(.azureMobileApps, "patch.kept", "cuts the fractions of numbers in updates") { name, value in
            guard name == "number", case .double(let number) = value else { return value }
            return .double(number.rounded(.towardZero))
        },
        sending(.azureMobileApps, "patch.kept", "takes spaces off the texts of updates") { name, value in
            name == "text" ? .string((value.string ?? "").trimmingCharacters(in: .whitespaces)) : value
        },
        sending(.azureMobileApps, "patch.date-texts", "takes texts for dates that look like some") { _, value in
            value == "/Date(0)/" ? "1970-01-01T00:00:00Z" : value
        },
        ServerMutant(.azureMobileApps, "patch.merges", "clears the instant that a PATCH leaves out") {
            request,
            emulator in
            guard request.method == "PATCH", case .object(let item) = request.json, item["date"] == nil else {
                return try await emulator.handle(request)
            }
            return try await emulator.handle(request.with { $0.json = .object(item.merging(["date": nil]) { $1 }) })
        },
        listing(.datasync, "page.values", "cuts texts at 2,000 signs in lists") { _, row in
            if let text = row["text"]?.string { row["text"] = .string(String(text.prefix(2_000))) }
        },
        listing(.datasync, "page.values", "keeps one digit behind the point where columns are selected") {
            request,
            row in
            guard request["$select"] != nil, case .double(let number)? = row["number"] else { return }
            row["number"] = .double((number * 10).rounded() / 10)
        },
        listing(.azureMobileApps, "page.values", "cuts the milliseconds of instants in lists") { _, row in
            if let date = row["date"]?.string { row["date"] = .string(date.prefix(19) + ".000Z") }
        },
        ServerMutant(.datasync, "create.whole-digits", "keeps whole numbers as binary ones") { request, emulator in
            // The column of the table is one of binary numbers.
            if let number = request.json["number"], number != .null, number.integer == nil {
                return EmulatorResponse(500)
            }
            return try await emulator.handle(request)
        },
        filtering(.datasync, "query.id-order", "takes gt for ge among ids", "id gt '", "id ge '"),
        filtering(.datasync, "query.id-order", "finds every row whose updatedAt is null", "At eq null", "At ne null"),
        filtering(.azureMobileApps, "query.id-order", "takes le for lt among ids", "id le '", "id lt '"),
        filtering(.datasync, "date.filter", "takes gt for lt among stamps", "updatedAt gt", "updatedAt lt"),
        filtering(.datasync, "date.filter", "takes eq for ge among stamps", "updatedAt eq cast", "updatedAt ge cast"),
        filtering(.azureMobileApps, "date.filter", "takes le for ge among stamps", "updatedAt le", "updatedAt ge"),
        filtering(.datasync, "function.wildcards", "takes an underscore for any sign", "(text,'_')", "(text,'')"),
        filtering(.datasync, "function.wildcards", "takes a percent sign for any signs", "'50%')", "'50')"),
        filtering(.datasync, "function.wildcards", "takes a backslash for nothing", "(text,'\\')", "(text,'')"),
        answering(.datasync, "page.walk-skip", "counts from 0 in the link of a query with $skip") { request, answer in
            guard let skip = request["$skip"].flatMap({ Int($0) }) else { return }
            let count = answer.json["items"]?.array?.count ?? 0
            answer.changeLink { $0.replacingOccurrences(of: "$skip=\(skip + count)", with: "$skip=\(count)") }
        },
        answering(.datasync, "page.walk-skip", "forgets what $top has given behind $skip") { request, answer in
            guard request["$skip"] != nil, let top = request["$top"].flatMap({ Int($0) }) else { return }
            let count = answer.json["items"]?.array?.count ?? 0
            answer.changeLink { $0.replacingOccurrences(of: "$top=\(top - count)", with: "$top=\(top)") }
        },
        answering(.azureMobileApps, "page.walk-skip", "counts from 0 in the link of a query with $skip") { _, answer in
            answer.headers["Link"] = answer.headers["Link"]?
                .replacingOccurrences(of: "%24skip=60", with: "%24skip=50")
        },
        answering(.datasync, "page.link-signs", "leaves a plus in its link as it is") { _, answer in
            answer.changeLink { $0.replacingOccurrences(of: "%2B", with: "+") }
        },
        answering(.datasync, "page.link-signs", "takes an escape in a text for one of the address") { _, answer in
            answer.changeLink { $0.replacingOccurrences(of: "%2520", with: "%20") }
        },
    ]

    /// A server that takes values of updates for others.
    private static func sending(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ change: @escaping @Sendable (_ name: String, _ value: JSONValue) -> JSONValue
    ) -> ServerMutant {
        asking(serverProtocol, rule, fault) { request in
            guard ["PUT", "PATCH"].contains(request.method), case .object(let item) = request.json else { return }
            request.json = .object(Dictionary(item.map { ($0.key, change($0.key, $0.value)) }) { $1 })
        }
    }

    /// A server that shows rows in lists otherwise than by id.
    private static func listing(
        _ serverProtocol: ServerProtocol,
        _ rule: String,
        _ fault: String,
        _ change: @escaping @Sendable (EmulatorRequest, inout [String: JSONValue]) -> Void
    ) -> ServerMutant {
        answering(serverProtocol, rule, fault) { request, answer in
            guard request.method == "GET", !request.isRow else { return }
            answer = answer.withRows { change(request, &$0) }
        }
    }
}
