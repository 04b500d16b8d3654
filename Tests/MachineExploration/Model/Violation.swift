/// What must not happen.
enum Violation: UInt8 {
    case none
    /// A request went over something that its sender had not seen.
    case overwritten
    /// An acknowledged edit is nowhere.
    case vanished
    /// What was discarded or deleted is on the server again, and nothing waits that would take it back.
    case returned
    /// A conflict that shows nothing but what the device knows.
    case conflictWithOneself
    /// The local row is not what the last edit made of it, although a change waits.
    case rowChanged
    /// Nothing can be done any more, and something waits.
    case stuck
    /// No end is reached by doing what can be done.
    case endless
    /// Nothing waits, and a device has another row than the server.
    case different

    var sentence: String {
        switch self {
        case .none: "Nothing is wrong."
        case .overwritten: "A request went over a change that its sender had not seen."
        case .vanished: "An acknowledged edit is neither on the server nor waiting, and nobody has decided against it."
        case .returned: "What was given up is on the server, and nothing waits that would take it back."
        case .conflictWithOneself: "The conflict shows nothing that this device had not seen or written itself."
        case .rowChanged: "A change waits, and the local row is not what the last edit made of it."
        case .stuck: "A change waits and nothing can be done about it."
        case .endless: "Everything that can be done is done over and over again."
        case .different: "Nothing waits any more, and a device has another row than the server."
        }
    }
}
