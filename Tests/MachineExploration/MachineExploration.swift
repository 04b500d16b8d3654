import Foundation

/// Explores the machine of an item breadth first over one row, two devices and a server, with everything that may go wrong.
///
///     machine-exploration                   about a million states
///     machine-exploration --all             tens of millions
///     machine-exploration --shortest        what finds a missing rule; ends with 1 and the shortest story
///     machine-exploration edits=3 faults=1  bounds of one's own
///
/// A loss is told as a story, the shortest that there is within its bounds, and ends the program with 1.
@main
struct MachineExploration {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case nil: run(Bounds.brief)
        case "--all": run(Bounds.brief + Bounds.all)
        case "--shortest": findShortest()
        default:
            guard let bounds = Bounds(words: arguments) else {
                print(
                    """
                    Bounds are words: edits=2 faults=1 discards=1 keeps=0 touches=1 new editor steps shown hidden limit=9, \
                    and alone removals=1.
                    """
                )
                exit(2)
            }
            run([bounds])
        }
    }

    private static func run(_ runs: [Bounds]) {
        var total = 0
        for bounds in runs {
            var explorer = Explorer(bounds: bounds)
            let clock = ContinuousClock()
            var ending = Explorer.Ending.holds(isComplete: true)
            let time = clock.measure { ending = explorer.explore() }
            total += explorer.states.count
            let seconds = time.formatted(.units(fractionalPart: .show(length: 1)))
            let figures = "\(explorer.states.count) states in \(seconds)"
            switch ending {
            case .holds(let isComplete):
                print("Holds in \(isComplete ? "all" : "the first") \(figures): \(bounds.description).")
                // Whoever waits sees how far it is.
                fflush(nil)
            case .violated(let violation, let path, let last):
                print("\(violation.sentence)\n(\(bounds.description); \(figures).)")
                tell(explorer.story(path, last))
                exit(1)
            }
        }
        print("Nothing is lost in \(total) states.")
    }

    /// Explores some bounds and tells the shortest of the stories that they give.
    private static func findShortest() {
        var shortest: (violation: Violation, bounds: Bounds, story: [String])?
        for bounds in Bounds.rules {
            var explorer = Explorer(bounds: bounds)
            let deepest = (shortest?.story.count ?? .max) - 1
            guard case .violated(let violation, let path, let last) = explorer.explore(steps: deepest) else { continue }
            let story = explorer.story(path, last)
            if story.count < shortest?.story.count ?? Int.max { shortest = (violation, bounds, story) }
        }
        guard let shortest else { return print("Nothing is lost.") }
        print("\(shortest.violation.sentence) (\(shortest.bounds.description).)")
        tell(shortest.story)
        exit(1)
    }

    private static func tell(_ story: [String]) {
        for (number, line) in story.enumerated() { print("  \(number + 1). \(line)") }
    }
}
