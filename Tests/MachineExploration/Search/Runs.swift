extension Bounds {
    /// What `make test` explores, about a million states.
    static let brief: [Bounds] = [
        Bounds(name: "row exists, 2 edits, 1 fault", edits: 2, faults: 1),
    ]

    static func selected(_ arguments: [String]) -> [Bounds] {
        var bounds = Bounds(name: "given")
        guard arguments.count > 1 else { return brief }
        for argument in arguments.dropFirst() {
            let parts = argument.split(separator: "=")
            let number = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            switch parts[0] {
            case "edits": bounds.edits = number
            case "faults": bounds.faults = number
            case "discards": bounds.discards = number
            case "keeps": bounds.keeps = number
            case "touches": bounds.touches = number
            case "contents": bounds.contents = UInt8(number)
            case "editor": bounds.hasEditor = true
            case "new": bounds.rowExists = false
            case "hidden": bounds.showsTombstones = false
            case "limit": bounds.limit = number
            default: fatalError("unknown argument")
            }
        }
        return [bounds]
    }
}
