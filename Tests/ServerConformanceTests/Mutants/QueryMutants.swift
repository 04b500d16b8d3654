import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of protocol 3 in queries and pages.
    static let querying3: [ServerMutant] = [
        filtering(.datasync, "query.equal-text", "takes ne for eq", " ne 'elder'", " eq 'elder'"),
        filtering(.datasync, "query.compare-text", "takes gt for ge among texts", " gt 'cherry", " ge 'cherry"),
        filtering(.datasync, "query.compare-number", "takes gt for ge", " gt 4", " ge 4"),
        filtering(.datasync, "query.fraction", "takes gt for ge among fractions", " gt 0.25", " ge 0.25"),
        filtering(.datasync, "query.negative-number", "takes no notice of a minus", "eq -3", "eq 3"),
        filtering(.datasync, "query.boolean", "takes ne for eq among truth values", " ne true", " eq true"),
        filtering(.datasync, "query.and-or-not", "takes not(…) for (…)", "not(", "("),
        asking(.datasync, "query.and-or-not", "lets or bind closer than and") { request in
            request["$filter"] = request["$filter"]?
                .replacingOccurrences(
                    of: "text eq 'fig' or text eq 'elder' and number",
                    with: "(text eq 'fig' or text eq 'elder') and number"
                )
        },
        filtering(
            .datasync,
            "query.and-or-not",
            "lets an or that follows bind closer than and",
            "and text eq 'fig' or text eq 'elder'",
            "and (text eq 'fig' or text eq 'elder')"
        ),
        filtering(
            .datasync,
            "query.id-order-case",
            "compares ids without regard to case",
            "id gt '",
            "tolower(id) gt '"
        ),
        filtering(.datasync, "query.arithmetic", "takes sub for add", " sub ", " add "),
        filtering(.datasync, "query.modulo", "takes mod for div", " mod ", " div "),
        asking(.datasync, "query.in", "takes the first value of a list only") { request in
            request["$filter"] = request["$filter"]?.replacingOccurrences(of: "','fig'", with: "'")
                .replacingOccurrences(
                    of: ",'nothing'",
                    with: ""
                )
        },
        answering(.datasync, "query.in-many", "refuses lists of more than 100 members") { request, answer in
            if request.members > 100 { answer = EmulatorResponse(400) }
        },
        asking(.datasync, "query.in-many", "takes no notice of members behind the 49th") { request in
            guard request.members > 49, let filter = request["$filter"] else { return }
            request["$filter"] = filter.split(separator: ",").prefix(49).joined(separator: ",") + ")"
        },
        filtering(.datasync, "query.quotes", "does not know doubled quotes", "date''s", "date"),
        filtering(.datasync, "query.null", "takes ne null for eq null", " ne null", " eq null"),
        asking(.datasync, "query.scripts", "takes a plus for a space") { request in
            request.query = request.query.replacingOccurrences(of: "%2B", with: "%20")
        },
        answering(.datasync, "query.unknown-column", "answers no rows for unknown columns") { request, answer in
            if answer.status == 400, request.query.contains("conform") {
                answer = .json(200, ["items": [], "count": nil, "nextLink": nil])
            }
        },
        answering(.datasync, "query.broken-filter", "answers 500 to broken filters") { _, answer in
            if answer.status == 400 { answer.status = 500 }
        },
        answering(.datasync, "query.names-in-any-case", "knows options in lower case only") { request, answer in
            if request.query.contains("FILTER") { answer = EmulatorResponse(400) }
        },
        filtering(.datasync, "query.random", "takes le for lt", " le ", " lt "),
        filtering(.datasync, "function.starts-ends", "takes startswith for endswith", "startswith(", "endswith("),
        filtering(.datasync, "function.contains", "takes contains for startswith", "contains(", "startswith("),
        filtering(.datasync, "function.case", "takes toupper for tolower", "toupper(", "tolower("),
        filtering(.datasync, "function.trim-concat", "trims nothing", "trim(", "("),
        filtering(.datasync, "function.index", "counts from 1", "eq 7)", "eq 6)"),
        filtering(.datasync, "function.substring", "counts substrings from 1", ",7,2)", ",6,2)"),
        filtering(.datasync, "function.length", "counts one sign too many", " eq 3)", " eq 2)"),
        filtering(.datasync, "function.rounding", "takes ceiling for floor", "ceiling(", "floor("),
        filtering(.datasync, "function.date-parts", "takes month for day", "month(", "day("),
        asking(.datasync, "order.descending", "does not know desc") { request in
            request["$orderby"] = request["$orderby"]?.replacingOccurrences(of: " desc", with: "")
        },
        asking(.datasync, "order.several", "orders by the first column only") { request in
            request["$orderby"] = request["$orderby"]?.split(separator: ",").first.map(String.init)
        },
        asking(.datasync, "order.ties-by-id", "puts equal rows by id, descending") { request in
            if let order = request["$orderby"], order.hasPrefix("deleted") { request["$orderby"] = order + ",id desc" }
        },
        asking(.datasync, "order.default", "orders by updatedAt, latest first, when nothing is asked for") { request in
            if request.method == "GET", !request.isRow, request["$orderby"] == nil {
                request["$orderby"] = "updatedAt desc"
            }
        },
        asking(.datasync, "order.select", "does not know $select") { request in request["$select"] = nil },
        ServerMutant(.datasync, "order.select", "forces the id into every selection") { request, emulator in
            try await emulator.handle(
                request.with { request in
                    if let names = request["$select"], !names.contains("id") { request["$select"] = names + ",id" }
                }
            )
        },
        answering(.datasync, "order.count", "counts the rows of the page") { _, answer in
            guard case .object(var page) = answer.json, page["count"]?.integer != nil else { return }
            page["count"] = .integer(Int64(page["items"]?.array?.count ?? 0))
            answer.json = .object(page)
        },
        asking(.datasync, "order.no-count", "counts always") { request in
            if request.method == "GET", !request.isRow { request["$count"] = "true" }
        },
        answering(.datasync, "page.shape", "leaves nulls out of pages") { _, answer in
            guard case .object(let page) = answer.json, page["items"] != nil else { return }
            answer.json = .object(page.filter { $0.value != .null })
        },
        asking(.datasync, "page.top", "gives one row with $top=0") { request in
            if request["$top"] == "0" { request["$top"] = "1" }
        },
        asking(.datasync, "page.skip", "skips one row too many after 50") { request in
            if let skip = request["$skip"].flatMap({ Int($0) }), skip > 50 { request["$skip"] = "\(skip + 1)" }
        },
        asking(.datasync, "page.grid", "skips none of 13 rows") { request in
            if let skip = request["$skip"].flatMap({ Int($0) }), skip % 3 == 1 { request["$skip"] = "\(skip - 1)" }
        },
        answering(.datasync, "page.walk", "leaves one row out between pages") { _, answer in
            answer.changeLink { $0.replacingOccurrences(of: "$skip=100", with: "$skip=101") }
        },
        answering(.datasync, "page.walk-order", "forgets the order on the second page") { _, answer in
            answer.changeLink { link in
                link.split(separator: "&").filter { !$0.contains("orderby") }.joined(separator: "&")
            }
        },
        answering(.datasync, "page.walk-count", "forgets the count on the second page") { _, answer in
            answer.changeLink { link in
                link.split(separator: "&").filter { !$0.contains("count") }.joined(separator: "&")
            }
        },
        answering(.datasync, "page.walk-deleted", "forgets __includedeleted on the second page") { _, answer in
            answer.changeLink { link in link.split(separator: "&").filter { !$0.contains("__") }.joined(separator: "&")
            }
        },
        answering(.datasync, "page.walk-select", "forgets $select on the second page") { _, answer in
            answer.changeLink { link in
                link.split(separator: "&").filter { !$0.contains("select") }.joined(separator: "&")
            }
        },
        answering(.datasync, "page.walk-top", "forgets $top on the second page") { _, answer in
            answer.changeLink { link in
                link.split(separator: "&").filter { !$0.contains("$top") }.joined(separator: "&")
            }
        },
        answering(.datasync, "page.walk", "gives no link when a page is full") { _, answer in
            guard case .object(var page) = answer.json, page["items"] != nil else { return }
            page["nextLink"] = nil
            answer.json = .object(page)
        },
        answering(.datasync, "page.no-link-at-end", "gives a link always") { request, answer in
            guard case .object(var page) = answer.json, page["items"] != nil else { return }
            page["nextLink"] = .string(request.query + "&$skip=5")
            answer.json = .object(page)
        },
        answering(.datasync, "page.no-link-at-end", "gives a link behind a full page") { _, answer in
            guard case .object(var page) = answer.json, page["items"]?.array?.count == 100 else { return }
            page["nextLink"] = page["nextLink"]?.string.map(JSONValue.string) ?? "$skip=120"
            answer.json = .object(page)
        },
        answering(.datasync, "query.changed-row", "keeps an index of updatedAt that changes do not reach") {
            request,
            answer in
            guard request["$filter"]?.contains("updatedAt ge") == true, case .object(var page) = answer.json else {
                return
            }
            page["items"] = .array((page["items"]?.array ?? []).filter { $0["text"] != "changed and listed" })
            answer.json = .object(page)
        },
        answering(.datasync, "page.no-link", "gives a link when $top is used up") { request, answer in
            guard case .object(var page) = answer.json, page["items"] != nil, request["$top"] == "5" else { return }
            page["nextLink"] = "$skip=5"
            answer.json = .object(page)
        },
        asking(.datasync, "page.bad-numbers", "takes a negative $skip for none") { request in
            if request["$skip"] == "-1" { request["$skip"] = nil }
        },
        asking(.datasync, "page.huge-top", "takes any $top") { request in
            if request["$top"] == "1000000" { request["$top"] = "1000" }
        },
        filtering(.datasync, "page.by-stamp", "takes instants for ten years later", "ge cast(202", "ge cast(203"),
        asking(.datasync, "page.by-skip", "shows no more than the first 100 rows") { request in
            if let skip = request["$skip"].flatMap({ Int($0) }), skip >= 100 { request["$skip"] = "\(skip + 1_000)" }
        },
    ]
}

extension EmulatorRequest {
    /// How many members the lists of the filter have, or none.
    fileprivate var members: Int {
        guard let filter = self["$filter"], filter.contains(" in (") else { return 0 }
        return filter.split(separator: ",").count
    }
}

extension EmulatorResponse {
    mutating func changeLink(_ change: (String) -> String) {
        guard case .object(var page) = json, let link = page["nextLink"]?.string else { return }
        page["nextLink"] = .string(change(link))
        json = .object(page)
    }
}
