internal import CommandArguments
internal import ConformanceRunner
internal import Foundation
internal import SealedSync
internal import ServerConformance

/// The options of `conform` for servers.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Judge the server at this address instead of a store.", valueName: "url"))
    var server: String?

    @Option(name: .customLong("protocol"), help: "What the server speaks: 3 for Datasync, 2 for Azure Mobile Apps.")
    var protocolNumber: Int?

    @Option(help: ArgumentHelp("The server's table. Rows are written to it and deleted again.", valueName: "name"))
    var table = "TodoItem"

    @Option(
        help: ArgumentHelp(
            "Name a column of the table, such as text=title; kinds: text, boolean, number, date. May be repeated.",
            valueName: "kind=name"
        )
    )
    var column: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send this header field with every request, such as 'Authorization=Bearer TOKEN'. May be repeated.",
            valueName: "name=value"
        )
    )
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "What is known to differ: predecessor (Azure Mobile Apps for .NET), node4 or standard. Found out by default.",
            valueName: "server"
        )
    )
    var profile: String?

    @Flag(
        help: ArgumentHelp(
            "Also try an empty id and very long ones. Some servers keep a row that nobody can delete, and some clients"
                + " cannot pull the table any more."
        )
    )
    var lastingRows = false

    @Flag(help: "Allow plain HTTP to another machine. Everyone on the way can read and change what is sent.")
    var allowInsecureHTTP = false

    @OptionGroup var certificates: CertificateOption

    /// Whether this is about servers at all.
    var isUsed: Bool { server != nil || protocolNumber != nil }

    func validate() throws {
        guard protocolNumber.map({ ServerProtocol(rawValue: $0) != nil }) ?? true else {
            throw ValidationError("--protocol is 3 (Datasync) or 2 (Azure Mobile Apps).")
        }
        guard server == nil || protocolNumber != nil else {
            throw ValidationError("'--server' needs '--protocol 3' (Datasync) or '--protocol 2' (Azure Mobile Apps).")
        }
        let given: [(String, Bool)] = [
            ("--column", !column.isEmpty), ("--header", !header.isEmpty), ("--profile", profile != nil),
            ("--lasting-rows", lastingRows), ("--allow-insecure-http", allowInsecureHTTP),
            ("--table", table != "TodoItem"),
        ]
        if !isUsed, let name = given.first(where: \.1)?.0 {
            throw ValidationError("'\(name)' is about a server; add '--server URL --protocol 3' or 2.")
        }
        _ = try columns
        _ = try headers
        _ = try knownServer
    }

    var knownServer: KnownServer? {
        get throws {
            guard let profile else { return nil }
            guard let server = KnownServer(rawValue: profile) else {
                let names = KnownServer.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("'--profile \(profile)' is not known; choose from \(names).")
            }
            return server
        }
    }

    /// The header fields. What is wrong is told without the value, which may be a secret.
    var headers: [(name: String, value: String)] {
        get throws {
            try header.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, HTTPField.Name(parts[0]) != nil else {
                    throw ValidationError("'--header' is of the form NAME=VALUE, with the name of a header field.")
                }
                guard parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                    throw ValidationError(
                        "The value of '--header \(parts[0])=…' has signs that no header field may have."
                    )
                }
                return (parts[0], parts[1])
            }
        }
    }

    var columns: [ColumnKind: String] {
        get throws {
            var columns: [ColumnKind: String] = [:]
            for text in column {
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, let kind = ColumnKind(rawValue: parts[0]), !parts[1].isEmpty else {
                    throw ValidationError(
                        "'--column \(text)' is not of the form text=NAME; kinds: text, boolean, number, date."
                    )
                }
                columns[kind] = parts[1]
            }
            return columns
        }
    }
}

/// Judges a server by the rules of its protocol.
struct ServerJudgement {
    let server: ServerOptions
    let options: ConformanceOptions

    /// Does what the options say. Ends with status 1 when a rule is broken or nothing could be run, 64 for arguments that
    /// make no sense.
    func run() async throws {
        let json = options.format == .json
        do {
            try await perform()
        } catch let exit as ExitCode {
            throw exit
        } catch let error as UsageError {
            throw try Failure(error).reported(json: json, status: ExitCode(64))
        } catch {
            throw try Failure(error).reported(json: json)
        }
    }

    private func perform() async throws {
        let serverProtocol = ServerProtocol(rawValue: server.protocolNumber ?? 3) ?? .datasync
        let all = ServerRules.suite(for: serverProtocol)
        let suite = try all.selecting(chapters: options.chapters, ids: options.rules)
        let deviations = try options.deviations.map { try Deviation.read(from: $0) } ?? []
        _ = try all.selecting(ids: deviations.map(\.rule))
        if options.lists { return Console.write(verbatim: try suite.list(options.format)) }
        guard let address = server.server else {
            throw UsageError("'--server URL' names the server to judge; '--list' lists the rules.")
        }
        let checked = try ServerAddress(
            address,
            protocolNumber: serverProtocol.rawValue,
            allowsInsecureHTTP: server.allowInsecureHTTP,
            timeout: 10,
            certificateFile: server.certificates.certificateFile,
            allowing: "add --allow-insecure-http"
        )
        let subject = ServerSubject(
            url: checked.url,
            table: server.table,
            serverProtocol,
            columns: try server.columns,
            headers: try server.headers,
            knownServer: try server.knownServer,
            triesLastingRows: server.lastingRows,
            additionalCertificateFile: server.certificates.certificateFile
        )
        Console.writeError(
            sentence: "sealedsync: writes rows of its own into \(subject.name) and deletes them afterwards; their ids"
                + " begin with \(subject.rowPrefix)"
        )
        var settings = RunSettings(seed: options.seed)
        settings.secondsPerRule = options.secondsPerRule
        let report = try await judge(suite, subject, settings).accepting(deviations)
        Console.write(verbatim: try report.text(options.format))
        if report.judgesNothing {
            Console.writeError(
                sentence: "sealedsync: nothing was judged; the report says why no rule could be applied."
            )
        }
        if !report.isPassed { throw ExitCode.failure }
    }

    /// Runs the rules; the first Ctrl-C ends that in good order.
    private func judge(
        _ suite: RuleSuite<ServerSubject>,
        _ subject: ServerSubject,
        _ settings: RunSettings
    ) async throws -> ConformanceReport {
        let (report, left): (ConformanceReport, [String])
        do {
            (report, left) = try await Interruption.cancelling {
                let meter = ProgressMeter(count: suite.rules.count)
                defer { meter.clear() }
                return try await ServerConformance.run(suite, on: subject, settings) { meter.advance($0) }
            }
        } catch let error as ServerRunCancelled {
            warn(ofRows: error.leftRows)
            throw ToolError("cancelled", "Interrupted; the rows of this run were deleted again.")
        }
        warn(ofRows: left)
        return report
    }

    private func warn(ofRows left: [String]) {
        guard !left.isEmpty else { return }
        // A server chose some of the ids, and may have chosen anything.
        let names = left.prefix(5).map(\.visible).joined(separator: ", ") + (left.count > 5 ? ", …" : "")
        Console.writeError(
            sentence: "sealedsync: \(countText(left.count, "row")) could not be deleted and may be left: \(names)"
        )
    }
}
