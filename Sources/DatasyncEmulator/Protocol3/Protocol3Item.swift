import Foundation

/// The body of a POST or PUT, read and checked.
struct Protocol3Item {
    struct Refusal: Error {
        let response: EmulatorResponse
    }

    var id: String?
    var deleted = false
    /// Everything but the system members, as sent.
    var values: [String: JSONValue]

    static func read(from request: EmulatorRequest) -> Result<Protocol3Item, Refusal> {
        guard request.mediaType == "application/json" else { return .failure(Refusal(response: EmulatorResponse(415))) }
        do {
            return .success(try Protocol3Item(JSONParser.parse(request.body)))
        } catch let error as JSONSyntaxError {
            return .failure(Refusal(response: .json(400, .string(error.message))))
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            return .failure(Refusal(response: EmulatorResponse(400)))
        }
    }

    private init(_ body: JSONValue) throws {
        guard let members = body.object else { throw Self.refusal("The body must be a JSON object.") }
        values = members
        for (name, value) in members {
            let systemName = name.lowercased()
            guard ["id", "deleted", "updatedat", "version"].contains(systemName) else { continue }
            values[name] = nil
            switch (systemName, value) {
            case ("id", .string(let text)): id = text
            case ("id", .null): id = nil
            case ("deleted", .bool(let mark)): deleted = mark
            // The client's own stamp and version are overwritten, but they must be such.
            case ("updatedat", .null), ("version", .null): continue
            case ("updatedat", .string(let text)) where text.isEmpty || Timestamp.ticks(isoText: text) != nil: continue
            case ("version", .string(let text)) where Data(base64Encoded: text) != nil: continue
            default: throw Self.refusal("The member '\(name)' has the wrong form.")
            }
        }
    }

    /// Why a table cannot store the item: a declared date that is none.
    func refusal(by table: EmulatedTable) -> Refusal? {
        for (name, type) in table.definition.columns where type == .date {
            guard let value = values[name], value != .null else { continue }
            guard let text = value.string, Timestamp.ticks(isoText: text) != nil else {
                return Self.refusal("The member '\(name)' is not a date.")
            }
        }
        return nil
    }

    private static func refusal(_ message: String) -> Refusal {
        Refusal(response: .json(400, .string(message)))
    }
}
