internal import ArgumentParser

struct GrowthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "growth", abstract: "Measures what must not grow.")
}
