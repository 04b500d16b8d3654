import DatasyncEmulator
import Foundation
import Synchronization

extension EmulatorRequest {
    var isRow: Bool { path.split(separator: "/").count == 3 }

    /// The path's id.
    var id: String { path.split(separator: "/").last.map { String($0).removingPercentEncoding ?? "" } ?? "" }

    /// The body as JSON.
    var json: JSONValue {
        get {
            do {
                return try JSONValue(parsing: body)
            } catch {
                // A mutant leaves bodies alone that are none.
                return .null
            }
        }
        set { body = newValue.encoded }
    }

    /// The value of an option.
    subscript(option: String) -> String? {
        get { options.first { $0.name == option }?.value }
        set {
            var all = options.filter { $0.name != option }
            if let newValue { all.append((option, newValue)) }
            query = all.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }.joined(separator: "&")
        }
    }

    /// Cuts the id of a body.
    mutating func cutID(at count: Int) {
        guard method == "POST", case .object(var item) = json, let id = item["id"]?.string else { return }
        item["id"] = .string(String(id.prefix(count)))
        json = .object(item)
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// The same with something changed.
    func with(_ change: (inout EmulatorRequest) -> Void) -> EmulatorRequest {
        var request = self
        change(&request)
        return request
    }
}

extension EmulatorResponse {
    var json: JSONValue {
        get {
            do {
                return try JSONValue(parsing: body)
            } catch {
                // An empty body is not JSON.
                return .null
            }
        }
        set { body = newValue.encoded }
    }

    /// Changes every row in the answer, be it one or a page.
    func withRows(_ change: (inout [String: JSONValue]) -> Void) -> EmulatorResponse {
        func changed(_ row: JSONValue) -> JSONValue {
            guard var members = row.object else { return row }
            change(&members)
            return .object(members)
        }
        var response = self
        switch json {
        case .array(let rows): response.json = .array(rows.map(changed))
        case .object(var members):
            if let name = ["items", "results"].first(where: { members[$0] != nil }) {
                members[name] = .array((members[name]?.array ?? []).map(changed))
                response.json = .object(members)
            } else {
                response.json = changed(.object(members))
            }
        default: break
        }
        return response
    }

    /// The page without some rows, by id.
    func withoutRows(_ isLeftOut: (String) -> Bool) -> EmulatorResponse {
        func rest(_ rows: [JSONValue]) -> JSONValue { .array(rows.filter { !isLeftOut($0["id"]?.string ?? "") }) }
        var response = self
        switch json {
        case .array(let rows): response.json = rest(rows)
        case .object(var members):
            guard let rows = members["items"]?.array else { return self }
            members["items"] = rest(rows)
            response.json = .object(members)
        default: break
        }
        return response
    }

    /// The same with something changed.
    func with(_ change: (inout EmulatorResponse) -> Void) -> EmulatorResponse {
        var response = self
        change(&response)
        return response
    }
}

extension Emulator {
    /// The row with an id, deleted or not.
    func row(_ id: String) -> [String: JSONValue]? {
        rows(in: JudgedServer.table).first { $0["id"] == .string(id) }
    }

    /// Puts a row in place.
    func put(_ row: [String: JSONValue]) throws { try seed([row], in: JudgedServer.table) }
}

/// What rows held under their versions.
final class RememberedTexts: Sendable {
    private let texts = Mutex<[String: JSONValue]>([:])

    subscript(key: String) -> JSONValue? {
        get { texts.withLock { $0[key] } }
        set { texts.withLock { $0[key] = newValue } }
    }
}

/// Ids that a server remembers between requests.
final class RememberedRows: Sendable {
    private let ids = Mutex<Set<String>>([])

    func insert(_ id: String) { ids.withLock { ids in _ = ids.insert(id) } }

    func remove(_ id: String) { ids.withLock { ids in _ = ids.remove(id) } }

    func contains(_ id: String) -> Bool { ids.withLock { $0.contains(id) } }
}
