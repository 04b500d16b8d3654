import Testing

@testable import SyncSessions

@Suite("What ends a wait, in the machine of a session")
struct MachineWaitTests {
    private func machine() -> SessionMachine {
        var machine = SessionMachine()
        let pulls = [SessionMachine.Pull(table: "A"), SessionMachine.Pull(table: "B")]
        _ = machine.handle(.started(pulls, .init()), at: .zero)
        _ = machine.handle(.loaded(suspended: [], hasChanges: false, ages: [nil, nil], needsReset: false), at: .zero)
        return machine
    }

    @Test("a pull that was under way at the call is made once more before a wait for downloads ends")
    func pullUnderWay() {
        var machine = machine()
        #expect(machine.work?.pulls == [0, 1])
        #expect(machine.handle(.wait(1, .download, needsUpload: false), at: .zero) == [])
        for index in 0...1 { #expect(machine.handle(.pulled(index), at: .zero) == []) }
        let next = SessionMachine.Work(pulls: [0, 1], list: 1)
        #expect(machine.handle(.ended(nil, random: 0), at: .zero) == [.begin(next)])
        #expect(machine.handle(.pulled(1), at: .zero) == [])
        #expect(machine.handle(.pulled(0), at: .zero) == [.endWait(1, isDone: true)])
    }

    @Test("a wait for both ends with the later of the two")
    func both() {
        var machine = machine()
        _ = machine.handle(.pulled(0), at: .zero)
        _ = machine.handle(.pulled(1), at: .zero)
        _ = machine.handle(.ended(nil, random: 0), at: .zero)
        _ = machine.handle(.wait(1, .both, needsUpload: true), at: .zero)
        #expect(machine.work?.pushes == true)
        #expect(machine.handle(.pulled(0), at: .zero) == [])
        #expect(machine.handle(.pulled(1), at: .zero) == [])
        #expect(machine.handle(.uploaded(1), at: .zero) == [.endWait(1, isDone: true)])
    }

    @Test("a pull that was last complete later than now is made: the clock was set back")
    func clockSetBack() {
        var machine = SessionMachine()
        _ = machine.handle(.started([SessionMachine.Pull(table: "A")], .init()), at: .zero)
        let loaded = SessionEvent.loaded(suspended: [], hasChanges: false, ages: [.seconds(-86_400)], needsReset: false)
        #expect(machine.handle(loaded, at: .zero) == [.begin(SessionMachine.Work(pulls: [0], list: 1))])
    }

    @Test(
        "that the service is there again is told when it answers after a failure, or after a suspension of both directions"
    )
    func recoveries() {
        var machine = machine()
        let before = machine.recoveries
        _ = machine.handle(.answered, at: .zero)
        #expect(machine.recoveries == before, "nothing has failed")
        _ = machine.handle(.ended(.temporary(name: "unreachable", wait: nil, isAnswer: false), random: 0), at: .zero)
        _ = machine.handle(.woken, at: .seconds(1))
        #expect(machine.work != nil && machine.recoveries == before)
        _ = machine.handle(.ended(nil, random: 0), at: .seconds(1))
        #expect(machine.recoveries == before, "nothing was asked")
        _ = machine.handle(.asked(.both), at: .seconds(1))
        _ = machine.handle(.answered, at: .seconds(1))
        _ = machine.handle(.answered, at: .seconds(1))
        #expect(machine.recoveries == before + 1)
        _ = machine.handle(.ended(nil, random: 0), at: .seconds(1))
        _ = machine.handle(.suspended(.both), at: .seconds(1))
        _ = machine.handle(.resumed(.both), at: .seconds(1))
        _ = machine.handle(.asked(.both), at: .seconds(1))
        _ = machine.handle(.answered, at: .seconds(1))
        #expect(machine.recoveries == before + 2)
        _ = machine.handle(.reconnect, at: .seconds(1))
        #expect(machine.recoveries == before + 3)
    }

    @Test("another start has a wait for downloads bring what is kept from then on")
    func otherList() {
        var machine = machine()
        _ = machine.handle(.wait(1, .download, needsUpload: false), at: .zero)
        _ = machine.handle(.started([SessionMachine.Pull(table: "C")], .init()), at: .zero)
        for index in 0...1 { #expect(machine.handle(.pulled(index), at: .zero) == [], "of the list from before") }
        _ = machine.handle(.loaded(suspended: [], hasChanges: false, ages: [.zero], needsReset: false), at: .zero)
        let next = SessionMachine.Work(pulls: [0], list: 2)
        #expect(machine.handle(.ended(nil, random: 0), at: .zero) == [.begin(next)], "at once, however fresh it is")
        #expect(machine.handle(.pulled(0), at: .zero) == [.endWait(1, isDone: true)])
    }

    @Test("while all pulls wait because they fail, changes are sent, however long ago the last pull was")
    func tooOldWhilePullsWait() {
        var machine = SessionMachine()
        let options = SessionMachine.Settings(maximumOfflineTime: .seconds(50))
        let failure = SessionFailure.temporary(name: "500", wait: nil, isAnswer: true)
        _ = machine.handle(.started([SessionMachine.Pull(table: "A")], options), at: .zero)
        _ = machine.handle(.loaded(suspended: [], hasChanges: false, ages: [.zero], needsReset: false), at: .zero)
        _ = machine.handle(.asked(.download), at: .seconds(49))
        _ = machine.handle(.pullFailed(0, failure, random: 0), at: .seconds(49))
        _ = machine.handle(.ended(nil, random: 0), at: .milliseconds(49_900))
        let push = SessionMachine.Work(pushes: true, list: 1)
        #expect(machine.handle(.asked(.upload), at: .milliseconds(50_200)) == [.begin(push)])
        _ = machine.handle(.pushed(hasNewer: false), at: .milliseconds(50_300))
        _ = machine.handle(.ended(nil, random: 0), at: .milliseconds(50_300))
        let pull = SessionMachine.Work(pulls: [0], list: 1)
        #expect(machine.handle(.woken, at: .seconds(52)) == [.begin(pull)], "which shows whether the server answers")
    }
}
