import Foundation
import Testing
import VirtualTime

@testable import SyncSessions

/// Every state of a session and every event: what it is at afterwards, and what it does.
@Suite("The machine of a session, state by state and event by event")
struct MachineTableTests {
    /// The states, each made by events from the beginning. The clock is at 100 s.
    static let states: [(name: String, events: [SessionEvent])] = {
        let pulls = [SessionMachine.Pull(table: "A"), SessionMachine.Pull(table: "B")]
        let start = SessionEvent.started(pulls, .init())
        let manual = SessionEvent.started(pulls, .init(resetsManually: true))
        let brief = SessionEvent.started(pulls, .init(maximumOfflineTime: .seconds(50)))
        let fresh = SessionEvent.loaded(suspended: [], hasChanges: false, ages: [.zero, .zero], needsReset: false)
        let late = SessionEvent.loaded(suspended: [], hasChanges: true, ages: [.seconds(51), .zero], needsReset: false)
        let working = [
            start, SessionEvent.loaded(suspended: [], hasChanges: true, ages: [nil, .zero], needsReset: false),
        ]
        let unreachable = SessionFailure.temporary(name: "unreachable", wait: nil, isAnswer: false)
        let failed = SessionFailure.temporary(name: "500", wait: nil, isAnswer: true)
        let end = SessionEvent.ended(nil, random: 0)
        let pushing: [SessionEvent] = [start, fresh, .asked(.upload)]
        return [
            ("inactive", []),
            ("loading", [start]),
            ("locked", [start, .notLoaded(.temporary(name: "locked", wait: nil, isAnswer: false), random: 0)]),
            ("idle", [start, fresh]),
            ("changed", [start, fresh, .changed]),
            ("working", working),
            ("heard of", working + [.answered]),
            ("silent", working + [.answered]),
            ("awaited", working + [.wait(1, .both, needsUpload: true)]),
            ("started again", working + [start]),
            ("stopping", working + [.suspended(.both)]),
            ("failed at work", working + [.failed]),
            ("closed at work", working + [.closed]),
            ("backing off", pushing + [.ended(unreachable, random: 0)]),
            (
                "one pull failed",
                working + [.answered, .pullFailed(0, failed, random: 0), .pushed(hasNewer: false), end]
            ),
            (
                "one pull refused",
                working + [.answered, .pullFailed(0, .permanent, random: 0), .pushed(hasNewer: false), end]
            ),
            ("ordered off", pushing + [.ended(.temporary(name: "503", wait: .seconds(60), isAnswer: true), random: 0)]),
            ("push failed", pushing + [.pushFailed(failed, random: 0), end]),
            ("push forbidden", pushing + [.pushFailed(.credentials(name: "403", isAnswer: true), random: 0), end]),
            ("signed out", pushing + [.ended(.credentials(name: "401", isAnswer: true), random: 0)]),
            ("backing off, without upload", pushing + [.ended(unreachable, random: 0), .suspended(.upload)]),
            ("download off", [start, fresh, .suspended(.download), .changed]),
            ("upload off", [start, fresh, .suspended(.upload), .changed]),
            ("suspended", [start, fresh, .suspended(.both), .changed]),
            ("resetting", [start, fresh, .serverReset]),
            ("away for too long", [brief, late]),
            ("reset without download", [start, fresh, .suspended(.download), .changed, .serverReset]),
            ("failed for a reset", [manual, fresh, .serverReset, .ended(.historyLost, random: 0)]),
            ("failed", pushing + [.ended(.permanent, random: 0)]),
            ("closed", [start, fresh, .closed]),
        ]
    }()

    static let events: [(name: String, event: SessionEvent)] = [
        ("start", .started([SessionMachine.Pull(table: "C")], .init())),
        ("load", .loaded(suspended: [], hasChanges: false, ages: [.zero, .zero], needsReset: false)),
        ("load, reset", .loaded(suspended: [], hasChanges: false, ages: [.zero, .zero], needsReset: true)),
        ("load suspended", .loaded(suspended: .both, hasChanges: true, ages: [nil], needsReset: false)),
        ("no load: locked", .notLoaded(.temporary(name: "locked", wait: nil, isAnswer: false), random: 0)),
        ("no load: damaged", .notLoaded(.permanent, random: 0)),
        ("no load: closed", .notLoaded(.storeClosed, random: 0)),
        ("server reset", .serverReset),
        ("reset", .reset(asked: 1)),
        ("change", .changed),
        ("wake", .woken),
        ("network up", .network(isThere: true)),
        ("network down", .network(isThere: false)),
        ("obstacle gone", .obstacleGone),
        ("news of B", .serverChanged(tables: ["B"])),
        ("news", .serverChanged(tables: [])),
        ("ask upload", .asked(.upload)),
        ("ask download", .asked(.download)),
        ("ask both", .asked(.both)),
        ("suspend upload", .suspended(.upload)),
        ("suspend download", .suspended(.download)),
        ("suspend", .suspended(.both)),
        ("resume upload", .resumed(.upload)),
        ("resume download", .resumed(.download)),
        ("resume", .resumed(.both)),
        ("reconnect", .reconnect),
        ("pushed", .pushed(hasNewer: false)),
        ("pushed, newer", .pushed(hasNewer: true)),
        ("push fails", .pushFailed(.temporary(name: "500", wait: nil, isAnswer: true), random: 0)),
        ("pulled", .pulled(0)),
        ("pulled, other", .pulled(7)),
        ("pull fails", .pullFailed(0, .temporary(name: "500", wait: nil, isAnswer: true), random: 0)),
        ("pull refused", .pullFailed(0, .permanent, random: 0)),
        ("probe", .probed(0)),
        ("probe, other", .probed(7)),
        ("answer", .answered),
        ("end", .ended(nil, random: 0)),
        ("end: cancelled", .ended(.cancelled, random: 0)),
        ("end: unreachable", .ended(.temporary(name: "unreachable", wait: nil, isAnswer: false), random: 0)),
        ("end: ordered", .ended(.temporary(name: "503", wait: .seconds(60), isAnswer: true), random: 0)),
        ("end: credentials", .ended(.credentials(name: "401", isAnswer: true), random: 0)),
        ("end: history lost", .ended(.historyLost, random: 0)),
        ("end: store closed", .ended(.storeClosed, random: 0)),
        ("end: permanent", .ended(.permanent, random: 0)),
        ("wait upload", .wait(1, .upload, needsUpload: true)),
        ("wait upload of nothing", .wait(1, .upload, needsUpload: false)),
        ("wait download", .wait(1, .download, needsUpload: false)),
        ("wait both", .wait(1, .both, needsUpload: true)),
        ("uploaded", .uploaded(1)),
        ("cancel wait", .waitCancelled(1)),
        ("fail", .failed),
        ("close", .closed),
    ]

    /// The machine in a state, at 100 s; that one is silent takes a moment.
    static func machine(_ name: String) throws -> SessionMachine {
        let state = try #require(states.first { $0.name == name })
        let time = Duration.seconds(name == "silent" ? 95 : 100)
        var machine = SessionMachine()
        for event in state.events { _ = machine.handle(event, at: time) }
        if name == "silent" { _ = machine.handle(.woken, at: .seconds(100)) }
        return machine
    }

    /// What a machine is at, and what it does: `active connected | begin push 0`.
    static func text(_ machine: SessionMachine, _ effects: [SessionEffect]) -> String {
        let next = machine.nextTime.map { Date(timeIntervalSince1970: $0 / .seconds(1)) }
        let status = SyncSession.Status(machine, nextAttempt: next)
        var parts: [String] = []
        switch status.state {
        case .backingOff(let until): parts.append("backingOff \(Int(until.timeIntervalSince1970))")
        default: parts.append("\(status.state)")
        }
        if status.connection != .disconnected { parts.append("\(status.connection)") }
        if !status.suspended.isEmpty { parts.append("without \(status.suspended)") }
        if let time = machine.wakeTime() { parts.append("wakes \(time / .seconds(1))") }
        for effect in effects {
            switch effect {
            case .begin(let work):
                let kinds = (work.resets ? " reset" : "") + (work.pushes ? " push" : "")
                parts.append("begin" + kinds + work.pulls.map { " \($0)" }.joined())
            case .load: parts.append("load")
            case .cancelWork: parts.append("cancel")
            case .endWait(_, let isDone): parts.append(isDone ? "wait done" : "wait ended")
            }
        }
        return parts.joined(separator: ", ")
    }

    @Test("every pair", arguments: states.map(\.name))
    func pairs(_ name: String) throws {
        let expected = try #require(Self.expectedAtRest[name] ?? Self.expectedAtWork[name])
        for event in Self.events {
            var machine = try Self.machine(name)
            let effects = machine.handle(event.event, at: .seconds(100))
            let wanted = expected.otherwise[event.name] ?? expected.usually
            #expect(Self.text(machine, effects) == wanted, "\(event.name) in state \(name)")
        }
        let names = Set(Self.events.map(\.name))
        #expect(Set(expected.otherwise.keys).isSubset(of: names))
    }
}
