internal import CommandArguments

/// The options of every action on a to-do list.
struct TodoOptions: ParsableArguments {
    @OptionGroup var place: StoreOptions

    @Option(help: ArgumentHelp("Use this server for this call only.", valueName: "url"))
    var server: String?

    var store: String { place.store }
    var json: Bool { place.json }
}
