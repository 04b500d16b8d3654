internal import OfflineSync
internal import SeededNumbers
internal import SyncContract

/// What was decided inside of a push about an error, until it is in force.
struct Decision {
    let error: TableOperationError<Record>
    let choice: Choice
    /// Whether nobody is asked.
    var isAutomatic = false
}

/// What a delegate throws that does not want an operation to be sent now.
struct Hesitation: Error {}

/// Has a say in the pushes of one life of a device, and tells the simulation what is decided there: by itself, or by the
/// policy that comes after it.
final class PushDelegate: SyncContextDelegate, @unchecked Sendable {
    private unowned let device: Device
    private let life: DeviceLife
    private var random: SeededGenerator

    init(_ device: Device) {
        self.device = device
        life = device.life
        random = SeededGenerator(seed: device.world.settings.seed &+ 77 &+ UInt64(device.number))
    }

    private var world: World { device.world }

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        if world.settings.hasDelegates, !world.isCalm, random.chance(1, of: 40) { throw Hesitation() }
    }

    func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? {
        guard !life.isOver else { throw Killed() }
        if error.isConflict { try await device.check(error) }
        if world.settings.hasDelegates, random.chance(1, of: 2),
            let resolution = try await decision(about: error, isAutomatic: false)
        {
            return resolution
        }
        guard error.isConflict else { return nil }
        switch world.settings.policy {
        case .clientWins: announce(error, .mine, isAutomatic: true)
        case .serverWins: announce(error, .server, isAutomatic: true)
        case .store, .merge: break
        }
        return nil
    }

    var policy: ConflictPolicy<Record> {
        switch world.settings.policy {
        case .store: .store
        case .clientWins: .clientWins
        case .serverWins: .serverWins
        case .merge: .merge { [unowned self] in try await decision(about: $0, isAutomatic: true) }
        }
    }

    /// Asks the user, who takes some time and may edit the row meanwhile, or not know.
    private func decision(
        about error: TableOperationError<Record>,
        isAutomatic: Bool
    ) async throws -> ConflictResolution<Record>? {
        let choice: Choice? =
            random.chance(1, of: 5)
            ? nil
            : random.pick(
                error.isConflict || world.settings.keepsOtherValues ? Choice.allCases : [.mine, .merged, .discard]
            )
        let edits = random.chance(1, of: 6)
        try await world.pause(life, "\(device.name) is asked about \(error.kind) of \(error.itemID)")
        if edits { try await device.edit(RowKey(table: error.table, id: error.itemID), ["note"], inserts: false) }
        guard !life.isOver, let choice else { return nil }
        let resolution = device.resolution(of: error, choice)
        announce(error, choice, isAutomatic: isAutomatic)
        return resolution
    }

    private func announce(_ error: TableOperationError<Record>, _ choice: Choice, isAutomatic: Bool) {
        life.decisions[error.id] = Decision(error: error, choice: choice, isAutomatic: isAutomatic)
    }
}
