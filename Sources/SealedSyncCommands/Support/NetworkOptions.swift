internal import CommandArguments
internal import SealedSync

/// The options of every action that talks to a server: how long it waits, and whom it trusts.
struct NetworkOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How long to wait for an answer.", valueName: "seconds"))
    var timeout = 20

    @OptionGroup var certificates: CertificateOption

    func validate() throws {
        guard (1...3_600).contains(timeout) else { throw ValidationError("--timeout is 1 to 3600 seconds.") }
    }
}

/// Whom to trust besides those that the system trusts.
struct CertificateOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the certificates in this PEM file as well: a private authority's, or the server's own.",
            valueName: "file"
        )
    )
    var certificateFile: String?

    func validate() throws {
        guard certificateFile != "" else { throw ValidationError("--certificate-file needs the name of a file.") }
    }
}
