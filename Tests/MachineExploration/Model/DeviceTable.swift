import SyncMachines

/// Numbers the states of devices, and remembers what every event makes of them: the machines are asked once per state
/// and event, and a state of the world is a few numbers.
struct DeviceTable {
    /// What the exploration asks of a device all the time.
    struct Facts {
        enum Slot: UInt8 {
            case free, ready, again, answered
        }

        var slot = Slot.free
        var message = Message(bits: 0)
        var change: QueuedChange<ModelRow>.State?
        var isUndo = false
        var isDeletion = false
        var needsRow = false
        var isReading = false
        var isHeldInEditor = false
        var isMidPush = false
        var mayShow = true
        var token: UInt8 = 0
        var row: UInt32?
        var written: ModelRow.Content = 0
        var edits: Edits = []
        var pending: Edits = []
    }

    /// What an event makes of a device.
    struct Result {
        var device: UInt32
        var consequence: Consequence
    }

    private(set) var devices: [Device] = []
    private(set) var facts: [Facts] = []
    private var numbers: [Device: UInt32] = [:]
    private var results: [UInt64: Result?] = [:]

    mutating func number(of device: Device) -> UInt32 {
        if let known = numbers[device] { return known }
        let number = UInt32(devices.count)
        devices.append(device)
        facts.append(Facts(device))
        numbers[device] = number
        return number
    }

    mutating func handle(_ event: DeviceEvent, on number: UInt32) -> Result? {
        let key = UInt64(number) << 32 | UInt64(event.bits)
        if let known = results[key] { return known }
        let result = compute(event, on: number)
        results[key] = .some(result)
        return result
    }

    private mutating func compute(_ event: DeviceEvent, on number: UInt32) -> Result? {
        var device = devices[Int(number)]
        guard var consequence = device.handle(event) else { return nil }
        device.normalise()
        if let change = device.machine.change, !change.isUndo, consequence.violation == .none,
            (device.row?.content ?? ModelRow.deletion) != device.written
        {
            consequence.violation = .rowChanged
        }
        return Result(device: self.number(of: device), consequence: consequence)
    }
}

extension DeviceTable.Facts {
    init(_ device: Device) {
        switch device.slot {
        case .free: break
        case .ready(let sent, let message):
            (slot, self.message) = (.ready, message)
            mayShow = sent.mayShowTombstone
        case .again(_, let message): (slot, self.message) = (.again, message)
        case .answered(_, let message, _): (slot, self.message) = (.answered, message)
        }
        change = device.machine.change?.state
        isUndo = device.machine.change?.isUndo ?? false
        isDeletion = device.machine.change?.kind == .delete
        needsRow = device.machine.needsRow
        isReading = device.page != nil
        isHeldInEditor = device.editor != nil
        isMidPush = device.lookUp != .notDone
        token = device.token
        row = device.row?.bits
        written = device.written
        edits = .first(device.edits, of: device.side)
        pending = device.pending
    }
}
