import DatasyncEmulator
import Foundation
import ServerConformance

extension ServerMutant {
    /// Faults of what clients go on by, and of links.
    static let values: [ServerMutant] = [
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
}
