internal import CommandArguments
internal import SealedSync

/// What a slot is called on the command line: its number, which changes with the slots before it, or its id.
enum SlotName: ExpressibleByArgument, Hashable {
    case number(Int)
    /// The first digits of an id, or all of them.
    case id(String)

    /// As many digits of an id as 'keys status' shows. No number of a slot has so many.
    static let shortIDCount = 8

    init?(argument: String) {
        if argument.utf8.count < Self.shortIDCount {
            guard let number = Int(argument) else { return nil }
            self = .number(number)
        } else {
            let digits = argument.lowercased()
            guard digits.utf8.count <= 2 * Keyslot.ID.count, digits.utf8.allSatisfy(Self.isDigit) else { return nil }
            self = .id(digits)
        }
    }

    static func expectation(insteadOf argument: String) -> String {
        "a whole number, or an id of \(shortIDCount) to \(2 * Keyslot.ID.count) hexadecimal digits"
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    /// The place of the slot among those of a store.
    func place(in slots: [Keyslot]) throws -> Int {
        switch self {
        case .number(let number):
            guard slots.indices.contains(number - 1) else {
                throw ToolError("notFound", "There is no slot \(number); the store has slots 1 to \(slots.count).")
            }
            return number - 1
        case .id(let digits):
            let places = slots.indices.filter { "\(slots[$0].id)".hasPrefix(digits) }
            guard let place = places.first else {
                throw ToolError(
                    "notFound",
                    "There is no slot with the id \(digits); it is gone already, or of another store: see 'keys status'."
                )
            }
            guard places.count == 1 else {
                throw ToolError("notFound", "More than one slot has an id that begins with \(digits); give all of it.")
            }
            return place
        }
    }
}

extension Keyslot {
    /// The digits of the id that stand in a table, and serve to name the slot.
    var shortID: String { String("\(id)".prefix(SlotName.shortIDCount)) }
}
