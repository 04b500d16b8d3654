import Foundation

/// Explores the machines of an item, run after run; the first loss is told as a story and ends the program with 1.
@main
struct MachineExploration {
    static func main() {
        var failed = false
        for bounds in Bounds.selected(CommandLine.arguments) {
            let clock = ContinuousClock()
            let start = clock.now
            var explorer = Explorer(bounds: bounds)
            let ending = explorer.explore()
            let time = start.duration(to: clock.now)
            let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
            let figures = "\(explorer.states.count) states, \(explorer.devices.devices.count) of a device, "
                + "\(Int(seconds * 10) / 10).\(Int(seconds * 10) % 10) s"
            switch ending {
            case .holds(let isComplete):
                print("\(bounds.name): holds in \(isComplete ? "all" : "the first") \(figures)")
            case .violated(let violation, let path, let last):
                failed = true
                print("\(bounds.name): \(violation.sentence) (\(figures))")
                for (number, line) in explorer.story(path, last).enumerated() { print("  \(number + 1). \(line)") }
            }
        }
        if failed { exit(1) }
    }
}
