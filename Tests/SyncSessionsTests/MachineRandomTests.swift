import SeededNumbers
import Testing

@testable import SyncSessions

/// Random events at a machine, and work that ends at random: whatever comes, what the documentation promises holds.
@Suite("The machine of a session under random events")
struct MachineRandomTests {
    private struct Run {
        var machine = SessionMachine()
        var now = Duration.zero
        var running: SessionMachine.Work?
        /// Waits that were told nothing yet.
        var open: Set<Int> = []
        var next = 0
        /// Whether it has asked for what is stored, and was not answered.
        var isLoading = false
        var failures: [String] = []

        mutating func send(_ event: SessionEvent) {
            let before = machine
            switch event {
            // Another start asks anew, and what was asked before counts no more.
            case .started, .loaded, .notLoaded, .closed: isLoading = false
            default: break
            }
            for effect in machine.handle(event, at: now) {
                switch effect {
                case .load:
                    if isLoading { failures.append("loads twice") }
                    if machine.phase != .loading { failures.append("loads while \(machine.phase)") }
                    isLoading = true
                case .begin(let work):
                    if running != nil { failures.append("two at a time") }
                    if !work.pushes, work.pulls.isEmpty, !work.resets { failures.append("work of nothing") }
                    if work.pushes, machine.suspended.contains(.upload) { failures.append("pushes while suspended") }
                    if !work.pulls.isEmpty, machine.suspended.contains(.download) {
                        failures.append("pulls while suspended")
                    }
                    if work.resets, work.pushes || machine.suspended.contains(.download) {
                        failures.append("a reset that pushes, or cannot pull")
                    }
                    if machine.needsReset, !work.resets { failures.append("goes on before it was reset") }
                    let held = before.pulls.indices.filter { machine.pulls[$0].isHeld(at: now) }
                    if !work.resets, !held.allSatisfy({ !work.pulls.contains($0) }) {
                        failures.append("makes a pull that has failed before its time")
                    }
                    if work.pushes, !machine.suspended.contains(.download),
                        held.contains(where: { machine.pulls[$0].precedesPush })
                    {
                        failures.append("pushes before what precedes it")
                    }
                    if work.pushes, let obstacle = machine.pushObstacle, obstacle.until > now {
                        failures.append("pushes before its time")
                    }
                    if machine.phase != .running { failures.append("works while \(machine.phase)") }
                    running = work
                case .cancelWork: if running == nil { failures.append("cancels nothing") }
                case .endWait(let number, _):
                    if open.remove(number) == nil { failures.append("a wait ended twice") }
                }
            }
            if open != Set(machine.waits.keys) { failures.append("a wait was forgotten") }
            if !machine.isStarted, !open.isEmpty { failures.append("a wait outlives its session") }
            for wait in machine.waits.values where !wait.direction.isDisjoint(with: machine.suspended) {
                failures.append("a wait outlives its direction: \(wait)")
            }
            if (machine.work != nil) != (running != nil), machine.phase != .closed {
                failures.append("does not know what is under way")
            }
            if let wake = machine.wakeTime(), wake <= now, case .woken = event { failures.append("woken for nothing") }
            if !failures.isEmpty { failures.append("\(event) at \(now), before: \(before)") }
        }
    }

    private static func direction(_ generator: inout SeededGenerator) -> SyncDirection {
        [SyncDirection.upload, .download, .both].randomElement(using: &generator) ?? .both
    }

    private static func event(_ run: inout Run, _ generator: inout SeededGenerator) -> SessionEvent {
        let random = Double.random(in: 0...1, using: &generator)
        switch Int.random(in: 0..<60, using: &generator) {
        case 0:
            let pulls = (0..<Int.random(in: 0..<4, using: &generator))
                .map { SessionMachine.Pull(table: "T\($0)", precedesPush: $0 == 2) }
            let settings = SessionMachine.Settings(
                pullInterval: Bool.random(using: &generator) ? nil : .seconds(60),
                resetsManually: random < 0.2,
                maximumOfflineTime: Bool.random(using: &generator) ? nil : .seconds(90)
            )
            return .started(pulls, settings)
        case 1...3:
            let ages: [Duration?] = (0..<4).map { _ in Bool.random(using: &generator) ? nil : .seconds(30) }
            let suspended = Int.random(in: 0..<5, using: &generator) == 0 ? direction(&generator) : []
            return .loaded(
                suspended: suspended,
                hasChanges: Bool.random(using: &generator),
                ages: ages,
                needsReset: random < 0.05
            )
        case 4, 5: return .changed
        case 6, 7:
            let failure: SessionFailure = random < 0.05 ? .permanent : .temporary(name: "d", wait: nil, isAnswer: false)
            return run.isLoading ? .notLoaded(failure, random: random) : .changed
        case 8, 9: return .network(isThere: Bool.random(using: &generator))
        case 10, 11: return .serverChanged(tables: Bool.random(using: &generator) ? [] : ["T1"])
        case 12, 13: return .asked(direction(&generator))
        case 14: return .suspended(direction(&generator))
        case 15...17: return .resumed(direction(&generator))
        case 18: return .reconnect
        case 19...24 where run.running?.pushes == true:
            let failures: [SessionFailure] = [
                .credentials(name: "f", isAnswer: true), .temporary(name: "g", wait: nil, isAnswer: true),
            ]
            guard random < 0.3, let failure = failures.randomElement(using: &generator) else {
                return .pushed(hasNewer: Bool.random(using: &generator))
            }
            return .pushFailed(failure, random: random)
        case 25...34:
            guard let index = run.running?.pulls.randomElement(using: &generator) else { return .woken }
            let failures: [SessionFailure] = [
                .permanent, .credentials(name: "c", isAnswer: true), .temporary(name: "e", wait: nil, isAnswer: true),
            ]
            guard random < 0.3, let failure = failures.randomElement(using: &generator) else { return .pulled(index) }
            return .pullFailed(index, failure, random: random)
        case 35: return .answered
        case 36 where run.running?.resets == true: return .reset(asked: run.machine.resetsAsked)
        case 36: return random < 0.3 ? .serverReset : .answered
        case 37...46:
            guard run.running != nil else { return .woken }
            run.running = nil
            let failures: [SessionFailure?] = [
                nil, nil, nil, .cancelled, .temporary(name: "a", wait: nil, isAnswer: false),
                .temporary(name: "b", wait: .seconds(20), isAnswer: true), .credentials(name: "c", isAnswer: true),
                random < 0.1 ? .permanent : nil, random < 0.5 ? .historyLost : nil,
            ]
            return .ended(failures.randomElement(using: &generator) ?? nil, random: random)
        case 47...50:
            run.next += 1
            run.open.insert(run.next)
            return .wait(run.next, direction(&generator), needsUpload: Bool.random(using: &generator))
        case 51, 52: return .uploaded(run.open.randomElement(using: &generator) ?? 0)
        case 53:
            guard let number = run.open.randomElement(using: &generator) else { return .woken }
            run.open.remove(number)
            return .waitCancelled(number)
        case 54: return .probed(Int.random(in: 0..<4, using: &generator))
        default: return .woken
        }
    }

    /// Lets everything work for a while: no session may stand still with something left to do.
    private static func settle(_ run: inout Run) {
        run.send(.resumed(.both))
        run.send(.started([SessionMachine.Pull(table: "T0")], .init()))
        run.send(.loaded(suspended: [], hasChanges: true, ages: [nil], needsReset: false))
        for _ in 0..<100 {
            if let work = run.running {
                if work.pushes { run.send(.pushed(hasNewer: false)) }
                for index in work.pulls { run.send(.pulled(index)) }
                if work.resets { run.send(.reset(asked: run.machine.resetsAsked)) }
                for number in run.open.sorted() { run.send(.uploaded(number)) }
                run.running = nil
                run.send(.ended(nil, random: 0))
            } else if let wake = run.machine.wakeTime(), wake <= run.now + .seconds(30) {
                run.now = max(run.now, wake)
                run.send(.woken)
            } else {
                break
            }
        }
        if !run.open.isEmpty { run.failures.append("waits are left: \(run.machine)") }
        if run.machine.needsReset { run.failures.append("a reset is left: \(run.machine)") }
        if run.machine.pushDue != nil { run.failures.append("changes are left: \(run.machine)") }
    }

    @Test("waits end with it, one thing at a time, nothing while suspended, nothing left")
    func random() throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for _ in 0..<SeededGenerator.rounds(200, all: 10_000) {
            var run = Run()
            for _ in 0..<100 {
                run.now += .milliseconds(Int.random(in: 0..<5_000, using: &generator))
                run.send(Self.event(&run, &generator))
                try #require(run.failures.isEmpty, "\(run.failures)")
            }
            Self.settle(&run)
            try #require(run.failures.isEmpty, "\(run.failures)")
            run.send(.closed)
            try #require(run.failures.isEmpty && run.open.isEmpty, "\(run.failures)")
        }
    }
}
