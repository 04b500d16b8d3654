internal import CommandArguments
internal import SealedSync

/// `store verify`
struct StoreVerify: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Look for damage in every page and row, and change nothing.",
        discussion: """
            Looks at the log, the code on every page, the structure of the database, every value of every row, and the \
            queue of changes. Exit status 0: no damage was found. 1: there is damage, each piece on a line of its own, \
            named by page, frame of the log, or table and row number; never by what a row holds.
            """
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyring = try await options.unlock()
        let result = try await Interruption.cancelling { bar in
            try await options.folder.verify(keyring) { bar.show($0) }
        }
        if json {
            try Console.write(json: Answer(result))
        } else {
            write(result)
        }
        if !result.isSound { throw ExitCode.failure }
    }

    private func write(_ result: StoreVerification) {
        let extent = "\(countText(result.pages, "page")) and \(countText(result.rows, "row"))"
        guard !result.isSound else { return Console.write("no damage found in \(extent)") }
        for finding in result.findings { Console.write(sentence: finding.message, indentation: 2) }
        if result.omittedFindings > 0 { Console.write("and \(result.omittedFindings) more of the kind") }
        Console.write("")
        Console.write("\(countText(result.findings.count + result.omittedFindings, "finding")) in \(extent)")
        var remedies: [String] = []
        for finding in result.findings where !remedies.contains(finding.remedy) { remedies.append(finding.remedy) }
        for remedy in remedies { Console.write(sentence: "next: \(remedy)", indentation: 6) }
    }

    private struct Answer: Encodable {
        var sound: Bool
        var pages: Int
        var rows: Int
        var findings: [Finding]
        var omittedFindings: Int

        init(_ result: StoreVerification) {
            sound = result.isSound
            pages = result.pages
            rows = result.rows
            findings = result.findings.map(Finding.init)
            omittedFindings = result.omittedFindings
        }
    }

    private struct Finding: Encodable {
        var kind: String
        var page: Int?
        var logFrame: Int?
        var table: String?
        var row: Int64?
        var message: String
        var remedy: String

        init(_ finding: StoreFinding) {
            kind = "\(finding.kind)"
            message = finding.message
            remedy = finding.remedy
            switch finding.place {
            case .store: break
            case .page(let number): page = number
            case .logFrame(let number): logFrame = number
            case .table(let name): table = name
            case .row(let number, let name): (row, table) = (number, name)
            }
        }
    }
}
