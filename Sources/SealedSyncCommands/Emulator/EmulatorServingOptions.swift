internal import CommandArguments
internal import DatasyncEmulator
internal import Foundation

/// What a server to develop against has besides tables.
struct EmulatorServingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A JSON file with rows by table, such as {"TodoItem": [{"id": "1", "text": "Milk"}]}. Rows may have updatedAt, \
            version and deleted. Tables that no option names have no columns declared. POST /__reset goes back to them.
            """,
            valueName: "file"
        )
    )
    var data: String?

    @Flag(help: "Write the rows back to the file of --data when stopped.")
    var save = false

    @Option(
        help: ArgumentHelp(
            "Keep the files that clients send to /attachments/ID in this folder; otherwise they go when it stops.",
            valueName: "folder"
        )
    )
    var attachments: String?

    @Option(
        help: ArgumentHelp(
            "Let pages of this origin, such as http://localhost:5173, read the answers; * for any.",
            valueName: "origin"
        )
    )
    var cors: String?

    @Flag(help: "Print a line for each request on standard error.")
    var log = false

    @Option(
        help: ArgumentHelp(
            """
            How many requests of a hundred meet a fault by chance: lost, late, doubled, cut, answered with 500, 503, 429 or \
            HTML. Repeats with --seed. (default: 0)
            """,
            valueName: "rate"
        )
    )
    var faults: Double?

    @Option(
        help: ArgumentHelp(
            """
            A user and the bearer token that requests of theirs carry; may be repeated. Every user sees their own rows \
            only; in --data a row is of the user that its member "user" names, without it of every one.
            """,
            valueName: "token=name"
        )
    )
    var user: [String] = []

    func validate() throws {
        guard !save || data != nil else { throw ValidationError("--save needs --data, the file to write to.") }
        guard attachments != "" else { throw ValidationError("--attachments needs the name of a folder.") }
        guard data != "" else { throw ValidationError("--data needs the name of a file.") }
        guard faults.map({ (0...100).contains($0) }) ?? true else { throw ValidationError("--faults is 0 to 100.") }
        if let cors, cors != "*" {
            let url = URL(string: cors)
            guard url?.scheme != nil, url?.host != nil, url?.path == "",
                cors.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
            else { throw ValidationError("--cors is an origin, such as http://localhost:5173, or *.") }
        }
        _ = try users
    }

    var users: [String: String] {
        get throws {
            var users: [String: String] = [:]
            for text in user {
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                // The token is a secret and is not repeated.
                guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                    throw ValidationError("--user is of the form TOKEN=NAME.")
                }
                guard users.updateValue(parts[1], forKey: parts[0]) == nil else {
                    throw ValidationError("--user: the same token is given to two users.")
                }
            }
            return users
        }
    }

    /// The content of the file of rows.
    func readData() throws -> Data? {
        try data.map { path in
            do {
                return try Data(contentsOf: URL(filePath: path))
            } catch {
                throw ToolError("usage", "\(path) cannot be read; --data names a file of rows.")
            }
        }
    }

    /// The tables of a file of rows that are not among those named.
    func missingTables(in json: Data, named: [EmulatedTableDefinition]) throws -> [EmulatedTableDefinition] {
        let known = Set(named.map { $0.name.lowercased() })
        do {
            let names = try JSONValue(parsing: json).object?.keys.sorted() ?? []
            return names.filter { !known.contains($0.lowercased()) }.map { EmulatedTableDefinition($0) }
        } catch let error as EmulatorError {
            throw ToolError("usage", "\(data ?? ""): \(error.message)")
        }
    }

    func load(_ json: Data, into emulator: Emulator) throws {
        do {
            try emulator.load(json)
        } catch let error as EmulatorError {
            throw ToolError("usage", "\(data ?? ""): \(error.message)")
        }
    }

    /// Writes the rows back, if that is wanted.
    func saveRows(of emulator: Emulator) throws {
        guard save, let data else { return }
        try emulator.contents.write(to: URL(filePath: data), options: .atomic)
    }
}
