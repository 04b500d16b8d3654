import Testing

@testable import SyncSessions

@Suite("Bringing everything anew, in the machine of a session")
struct MachineResetTests {
    @Test("a loss that is told while everything is brought anew has it brought once more")
    func toldMeanwhile() {
        var machine = SessionMachine()
        _ = machine.handle(.started([SessionMachine.Pull(table: "A")], .init()), at: .zero)
        _ = machine.handle(.loaded(suspended: [], hasChanges: false, ages: [.zero], needsReset: false), at: .zero)
        _ = machine.handle(.serverReset, at: .zero)
        let asked = machine.resetsAsked
        _ = machine.handle(.serverReset, at: .zero)
        _ = machine.handle(.reset(asked: asked), at: .zero)
        #expect(machine.needsReset)
        _ = machine.handle(.reset(asked: machine.resetsAsked), at: .zero)
        #expect(!machine.needsReset)
    }

    @Test("one that ends while a start looks what is stored is not made again for what that has seen of it")
    func endedMeanwhile() {
        var machine = SessionMachine()
        let pulls = [SessionMachine.Pull(table: "A")]
        let loaded = SessionEvent.loaded(suspended: [], hasChanges: false, ages: [.zero], needsReset: true)
        _ = machine.handle(.started(pulls, .init()), at: .zero)
        _ = machine.handle(loaded, at: .zero)
        #expect(machine.work?.resets == true)
        _ = machine.handle(.started(pulls, .init()), at: .zero)
        _ = machine.handle(.reset(asked: machine.resetsAsked), at: .zero)
        _ = machine.handle(.ended(nil, random: 0), at: .zero)
        _ = machine.handle(loaded, at: .zero)
        #expect(!machine.needsReset && machine.work?.resets != true)
        // One that is needed at the next start is made.
        _ = machine.handle(.started(pulls, .init()), at: .zero)
        _ = machine.handle(loaded, at: .zero)
        #expect(machine.needsReset)
    }

    @Test("a pull of news alone does not make up for the time away; a whole one does")
    func news() {
        var machine = SessionMachine()
        var options = SessionMachine.Settings()
        (options.pullInterval, options.maximumOfflineTime) = (.seconds(10), .seconds(100))
        _ = machine.handle(.started([SessionMachine.Pull(table: "A")], options), at: .zero)
        _ = machine.handle(
            .loaded(suspended: [], hasChanges: false, ages: [.seconds(200)], needsReset: false),
            at: .zero
        )
        _ = machine.handle(.resetGivenUp, at: .zero)
        _ = machine.handle(.ended(nil, random: 0), at: .zero)
        _ = machine.handle(.woken, at: .seconds(10))
        #expect(machine.work?.pulls == [0])
        _ = machine.handle(.pulledNews(0), at: .seconds(10))
        #expect(machine.isTooOld(machine.pulls[0], .seconds(10)) && machine.isResetFutile)
        _ = machine.handle(.ended(nil, random: 0), at: .seconds(10))
        _ = machine.handle(.woken, at: .seconds(20))
        _ = machine.handle(.pulled(0), at: .seconds(20))
        #expect(!machine.isTooOld(machine.pulls[0], .seconds(20)) && !machine.isResetFutile)
    }
}
