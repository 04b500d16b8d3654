import RemoteContract
import SyncSessions
import Testing

@testable import Attachments

@Suite("What is decided about transfers")
struct TransferMachineTests {
    typealias Effect = TransferMachine.Effect
    typealias Outcome = TransferMachine.Outcome

    static func upload(_ name: String) -> Transfer { Transfer(.upload, AttachmentID(name)!) }
    static func download(_ name: String) -> Transfer { Transfer(.download, AttachmentID(name)!) }
    static func ahead(_ name: String) -> Transfer { Transfer(.ahead, AttachmentID(name)!) }
    static let (x, y, z) = (ahead("x"), ahead("y"), ahead("z"))
    static let (a, b, c, d) = (upload("a"), upload("b"), upload("c"), download("d"))

    struct Step: Sendable {
        let at: Duration
        let event: TransferMachine.Event
        let effects: [Effect]

        init(_ event: TransferMachine.Event, _ effects: [Effect]) { self.init(.zero, event, effects) }

        init(_ at: Duration, _ event: TransferMachine.Event, _ effects: [Effect]) {
            (self.at, self.event, self.effects) = (at, event, effects)
        }
    }

    struct Course: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]

        init(_ name: String, _ steps: Step...) { (testDescription, self.steps) = (name, steps) }
    }

    static let courses = [
        Course(
            "when the service is found again what did not get through is tried at once, not what was told to wait",
            Step(.work([a, b]), [.begin(a), .begin(b)]),
            Step(.ended(a, .noService("x", after: nil)), [.wake(at: .seconds(1))]),
            Step(.ended(b, .noService("x", after: .seconds(60))), [.wake(at: .seconds(1))]),
            Step(.reachable, [.begin(a), .wake(at: .seconds(60))]),
            Step(.ended(a, .done), [.wake(at: .seconds(60))])
        ),
        Course(
            "at most two at a time, in order",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.ended(b, .done), [.begin(c)]),
            Step(.ended(a, .done), []),
            Step(.ended(c, .done), [])
        ),
        Course(
            "what is wanted no longer is ended",
            Step(.work([a, b]), [.begin(a), .begin(b)]),
            Step(.work([b]), [.cancel(a)]),
            Step(.ended(a, .cancelled), [])
        ),
        Course(
            "one file in one direction at a time",
            Step(.work([a, Transfer(.remove, a.id)]), [.begin(a)]),
            Step(.ended(a, .done), [.begin(Transfer(.remove, a.id))])
        ),
        Course(
            "a file that fails waits longer each time, and the others go on",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.ended(a, .failed("x", after: nil)), [.begin(c), .wake(at: .seconds(1))]),
            Step(.ended(b, .done), [.wake(at: .seconds(1))]),
            Step(.seconds(1), .woken, [.begin(a)]),
            Step(.seconds(1), .ended(a, .failed("x", after: nil)), [.wake(at: .seconds(3))]),
            Step(.seconds(2), .ended(c, .done), [.wake(at: .seconds(3))]),
            Step(.seconds(3), .woken, [.begin(a)]),
            Step(.seconds(3), .ended(a, .failed("x", after: .seconds(60))), [.wake(at: .seconds(63))])
        ),
        Course(
            "when nothing gets through all wait, and one tries it for the others",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.ended(a, .noService("x", after: nil)), [.wake(at: .seconds(1))]),
            Step(.ended(b, .noService("x", after: nil)), [.wake(at: .seconds(1))]),
            Step(.seconds(1), .woken, [.begin(c)]),
            Step(.seconds(1), .ended(c, .noService("x", after: nil)), [.wake(at: .seconds(3))]),
            Step(.seconds(3), .woken, [.begin(a)]),
            Step(.seconds(3), .ended(a, .done), [.begin(c), .begin(b)])
        ),
        Course(
            "a service that says for how long it cannot serve is asked for nothing before",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.ended(a, .noService("x", after: .seconds(60))), [.wake(at: .seconds(60))]),
            Step(.ended(b, .noService("x", after: nil)), [.wake(at: .seconds(60))]),
            Step(.seconds(1), .woken, [.wake(at: .seconds(60))]),
            Step(.seconds(60), .woken, [.begin(c)])
        ),
        Course(
            "a file at which everything breaks off waits longer each time, and the others go on",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.ended(b, .done), [.begin(c)]),
            Step(.ended(a, .noService("x", after: nil)), [.wake(at: .seconds(1))]),
            Step(.ended(c, .done), [.wake(at: .seconds(1))]),
            Step(.seconds(1), .woken, [.begin(a)]),
            Step(.seconds(1), .ended(a, .noService("x", after: nil)), [.wake(at: .seconds(2))]),
            Step(.seconds(1), .work([a, d]), [.wake(at: .seconds(2))]),
            Step(.seconds(2), .woken, [.begin(d), .wake(at: .seconds(3))]),
            Step(.seconds(2), .ended(d, .done), [.wake(at: .seconds(3))])
        ),
        Course(
            "whoever asks is tried first, also after a failure of all",
            Step(.work([d, a]), [.begin(d), .begin(a)]),
            Step(.ended(d, .noService("x", after: nil)), [.wake(at: .seconds(1))]),
            Step(.ended(a, .cancelled), [.wake(at: .seconds(1))]),
            Step(.work([d, a]), [.wake(at: .seconds(1))]),
            Step(.asked([d.id]), [.begin(d)])
        ),
        Course(
            "who asks does not wait",
            Step(.work([d]), [.begin(d)]),
            Step(.ended(d, .failed("x", after: .seconds(100))), [.wake(at: .seconds(100))]),
            Step(.seconds(1), .asked([d.id]), [.begin(d)])
        ),
        Course(
            "a direction that is suspended stops, and goes on",
            Step(.work([a, d]), [.begin(a), .begin(d)]),
            Step(.suspended(.upload), [.cancel(a)]),
            Step(.ended(a, .cancelled), []),
            Step(.work([a, d]), []),
            Step(.suspended([]), [.begin(a)])
        ),
        Course(
            "while a push runs nothing more is sent",
            Step(.pushing(true), []),
            Step(.work([d, a]), [.begin(d)]),
            Step(.pushing(false), [.begin(a)])
        ),
        Course(
            "a locked store ends all, and its unlocking begins it again",
            Step(.work([a]), [.begin(a)]),
            Step(.locked(true), [.cancel(a)]),
            Step(.ended(a, .cancelled), []),
            Step(.work([a]), []),
            Step(.locked(false), [.begin(a)])
        ),
        Course(
            "what nobody waits for makes way for the rest, one for one",
            Step(.work([x, y, z]), [.begin(x), .begin(y)]),
            Step(.work([a, x, y, z]), [.cancel(x)]),
            Step(.ended(x, .cancelled), [.begin(a)]),
            Step(.work([a, d, x, y, z]), [.cancel(y)]),
            Step(.ended(y, .cancelled), [.begin(d)]),
            Step(.work([a, d, x, y, z]), []),
            Step(.ended(a, .done), [.begin(x)])
        ),
        Course(
            "what nobody waited for and somebody does now is begun anew for them",
            Step(.work([ahead("d")]), [.begin(ahead("d"))]),
            Step(.work([d]), [.cancel(ahead("d"))]),
            Step(.ended(ahead("d"), .cancelled), [.begin(d)])
        ),
        Course(
            "what nobody waits for begins neither in a push nor when downloads are suspended",
            Step(.pushing(true), []),
            Step(.work([x, d]), [.begin(d)]),
            Step(.suspended(.download), [.cancel(d)]),
            Step(.pushing(false), []),
            Step(.ended(d, .cancelled), []),
            Step(.suspended([]), [.begin(x)])
        ),
        Course(
            "nothing begins after the end",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.closed, [.cancel(a), .cancel(b)]),
            Step(.ended(a, .cancelled), []),
            Step(.work([c]), [.cancel(b)])
        ),
        Course(
            "what is refused is not tried again by itself",
            Step(.work([a, b, c]), [.begin(a), .begin(b)]),
            Step(.ended(a, .refused), [.begin(c)]),
            Step(.ended(c, .done), [])
        ),
    ]

    @Test("follows from what has happened", arguments: courses)
    func course(course: Course) {
        var machine = TransferMachine(limit: 2)
        for (number, step) in course.steps.enumerated() {
            let effects = machine.handle(step.event, at: step.at, random: 0)
            #expect(effects == step.effects, "step \(number + 1)")
        }
    }
}
