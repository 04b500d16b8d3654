internal import SeededNumbers

/// Something that is under way and waits for the scheduler.
struct WaitingPoint {
    /// What it is that goes on.
    let label: String
    /// Whose memory it lives in; nil when it outlives every device.
    let life: DeviceLife?
    /// Whether it is a transaction of a store.
    var isStore = false
    /// The number of a sleep, which can be cancelled.
    var sleeper: Int?
    var cancel: () -> Void = {}
    /// When it has to go on at the latest, by the server's clock.
    var deadline = Int64.max
    /// Goes on. Only here is decided what happens.
    let proceed: (inout SeededGenerator) -> Void
    /// Ends it, because the device is no more.
    let end: () -> Void
}

/// A device from one start of its app to the next.
///
/// Used on the thread of its simulation only.
final class DeviceLife: @unchecked Sendable {
    let device: Int
    /// What its version of the app calls columns.
    let names: ColumnNames
    var isOver = false
    /// Whether the address leads elsewhere: every request is answered as a path is that does not exist.
    var isLostOnTheWay = false
    /// What was decided inside of pushes and is not in force yet, by the id of the error.
    var decisions: [String: Decision] = [:]
    /// The rows that a push is writing on the server.
    var underWay: Set<RowKey> = []
    /// The rows to which they refer.
    var references: [RowKey: RowKey] = [:]

    init(device: Int, names: ColumnNames) {
        self.device = device
        self.names = names
    }
}

/// What everything on a device meets when the device is killed. Nothing it does afterwards has an effect.
struct Killed: Error {}
