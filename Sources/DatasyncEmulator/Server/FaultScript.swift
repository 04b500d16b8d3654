/// The faults still to happen, in the order they were added. A request meets the first that matches.
struct FaultScript: Sendable {
    private var faults: [Fault] = []

    var remaining: Int {
        faults.reduce(0) { $0 + $1.remaining }
    }

    mutating func add(_ fault: Fault) {
        if fault.remaining > 0 { faults.append(fault) }
    }

    mutating func clear() {
        faults = []
    }

    mutating func take(for request: EmulatorRequest) -> Fault.Action? {
        guard let index = faults.firstIndex(where: { $0.matches(request) }) else { return nil }
        let action = faults[index].action
        faults[index].remaining -= 1
        if faults[index].remaining == 0 { faults.remove(at: index) }
        return action
    }
}
