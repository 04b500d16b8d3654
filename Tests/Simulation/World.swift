internal import SeededNumbers
internal import SyncContract

/// Several devices, a server, and everything that is under way between them.
///
/// Used on the thread of its simulation only: all that runs, runs on its executor.
final class World: @unchecked Sendable {
    let settings: WorldSettings
    let executor = SimulationExecutor()
    let server: SimulatedServer
    let ledger: Ledger
    /// Opens a store with other tables; nil where that cannot be tried.
    let migrate: Simulation.StoreMigrator?
    private(set) var devices: [Device] = []
    private let steps: [Step]

    /// What could go on now, in the order in which it came.
    var waiting: [WaitingPoint] = []
    /// Requests that nobody waits for any more and that may still arrive.
    var lateRequests: [Message] = []
    /// Whether the network does no harm now.
    private(set) var isCalm = false
    /// Whether nothing new begins.
    private var isFinishing = false

    private(set) var requestCount = 0
    private(set) var moveCount = 0
    /// What went wrong, in the order in which it was seen.
    private(set) var failures: [String] = []
    /// What happened, when somebody wants to know.
    private(set) var story: [String] = []
    private let tellsStory: Bool
    private var highestClock: Int64
    private var sleepers = 0

    init(
        _ settings: WorldSettings,
        stores: [any SyncContextDataSource],
        migrate: Simulation.StoreMigrator?,
        tellsStory: Bool
    ) {
        self.settings = settings
        self.migrate = migrate
        self.tellsStory = tellsStory
        steps = Step.all(in: settings)
        server = SimulatedServer(settings)
        ledger = Ledger(server)
        highestClock = server.clock
        devices = stores.enumerated().map { Device(number: $0, store: $1, world: self) }
        server.willWrite = { [unowned self] key, old, new, author in
            for failure in ledger.objections(to: new, over: old, in: key, by: author) { fail(failure) }
        }
    }

    /// Ends everything that is still under way.
    func close() {
        for device in devices { end(device.life) }
        lateRequests = []
    }

    /// The form of a row's name that tells it apart.
    func key(_ row: RowKey) -> RowKey { settings.key(row.id, in: row.table) }

    // MARK: What happened

    func note(_ text: @autoclosure () -> String) {
        if tellsStory, failures.count < 2 { story.append(text()) }
    }

    func fail(_ text: String) {
        failures.append(text)
        note("WRONG: \(text)")
    }

    func countRequest() {
        requestCount += 1
        tick()
    }

    // MARK: Time

    private func tick() {
        server.clock += 1
        highestClock = max(highestClock, server.clock)
    }

    /// Sets the server's clock back, by less than the settling time allows for.
    func setClockBack(by milliseconds: Int64) {
        server.clock = max(server.clock - milliseconds, highestClock - 80)
    }

    // MARK: Moves

    func play(_ move: Move) {
        moveCount += 1
        isCalm = move.isCalm
        var random = SeededGenerator(seed: move.seed)
        commitWhatIsOverdue()
        switch move.kind {
        case .begin: Step.any(of: steps, using: &random).begin(in: self, &random)
        case .goOn: if !waiting.isEmpty { goOn(random.below(waiting.count), &random) }
        }
        executor.drain()
    }

    /// Lets everything that is under way come to its end, in the order in which it came, without harm.
    func finish() {
        isCalm = true
        isFinishing = true
        var random = SeededGenerator(seed: settings.seed)
        executor.drain()
        var moves = 0
        while !waiting.isEmpty {
            goOn(0, &random)
            executor.drain()
            moves += 1
            guard moves < 5_000 else { return fail("something goes on and on") }
        }
        for device in devices where !device.running.isEmpty {
            fail("\(device.name) hangs: \(device.running.map(\.name))")
        }
    }

    private func goOn(_ index: Int, _ random: inout SeededGenerator) {
        let point = waiting.remove(at: index)
        if !(point.isStore && isFinishing) { note("  \(point.label)") }
        point.proceed(&random)
    }

    private func commitWhatIsOverdue() {
        var random = SeededGenerator(seed: settings.seed)
        while let index = waiting.firstIndex(where: { $0.deadline < server.clock }) { goOn(index, &random) }
        executor.drain()
    }

    /// Ends what waits in the memory of a device that is no more.
    func end(_ life: DeviceLife) {
        life.isOver = true
        let ended = waiting.filter { $0.life === life }
        waiting.removeAll { $0.life === life }
        for point in ended { point.end() }
        executor.drain()
    }

    /// Waits until the scheduler says that time has passed, or until the task is cancelled.
    ///
    /// - Throws: ``Killed`` when the device is no more; `CancellationError`.
    func sleep(_ life: DeviceLife) async throws {
        guard !life.isOver else { throw Killed() }
        try Task.checkCancellation()
        sleepers += 1
        let number = sleepers
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                var point = WaitingPoint(label: "Time passes for \(Device.name(life.device))", life: life) { _ in
                    continuation.resume()
                } end: {
                    continuation.resume(throwing: Killed())
                }
                point.sleeper = number
                point.cancel = { continuation.resume(throwing: CancellationError()) }
                waiting.append(point)
            }
        } onCancel: {
            guard let index = waiting.firstIndex(where: { $0.sleeper == number }) else { return }
            waiting.remove(at: index).cancel()
        }
    }

    /// Waits until the scheduler lets it go on.
    ///
    /// - Throws: ``Killed`` when the device is no more.
    func pause(_ life: DeviceLife, _ label: String) async throws {
        guard !life.isOver else { throw Killed() }
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(
                WaitingPoint(label: label, life: life, isStore: true) { _ in
                    continuation.resume()
                } end: {
                    continuation.resume(throwing: Killed())
                }
            )
        }
    }
}
