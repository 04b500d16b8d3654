internal import RemoteContract
internal import SeededNumbers
internal import SyncContract

/// A request under way.
///
/// Used on the thread of its simulation only.
final class Message: @unchecked Sendable {
    let request: ServerRequest
    let table: String
    let device: Int
    /// What waits for the answer; nil when nobody does any more.
    var continuation: CheckedContinuation<ServerAnswer, any Error>?
    /// Whether the server itself has answered that there is no such row.
    var hasMetNothing = false
    /// Whether the device has given up waiting, and may be told so before the answer comes.
    var isCancelled = false

    init(_ request: ServerRequest, in table: String, from device: Int) {
        self.request = request
        self.table = table
        self.device = device
    }

    var description: String {
        let name = Device.name(device)
        let what =
            switch request {
            case .insert(let record): "insert of \(record.story)"
            case .tombstone(let record, let version, _): "tombstone of \(record.story) @\(version ?? "-")"
            case .update(let record, let version, let restores):
                "\(restores ? "restoring" : "update") of \(record.story) @\(version ?? "-")"
            case .undelete(let id, let version): "undeletion of \(id) @\(version ?? "-")"
            case .delete(let id, let version, _): "deletion of \(id) @\(version ?? "-")"
            case .record(let id): "question for \(id)"
            case .confirm: "question for the table"
            case .page(let position, _): "question for \(position)"
            }
        return "\(name)'s \(what) in \(table)"
    }
}

/// What happens on the way.
extension World {
    /// Takes a request on its way to the server.
    func post(_ message: Message, of life: DeviceLife) {
        checkDeparture(of: message, life)
        waiting.append(
            WaitingPoint(label: message.description, life: life) { [self] random in
                arrive(message, life, &random)
            } end: { [self] in
                if message.request.writes { lateRequests.append(message) }
                message.finish(.failure(Killed()))
            }
        )
    }

    /// A push never has more under way than it may, nor two requests for a row; what comes later in a group waits for what
    /// comes earlier.
    private func checkDeparture(of message: Message, _ life: DeviceLife) {
        guard message.request.writes, let key = message.key(settings) else { return }
        if !life.underWay.insert(key).inserted { fail("\(message.description) leaves while another one is under way") }
        if life.underWay.count > settings.parallelOperations * settings.batchSize {
            fail("\(message.description) leaves beside too many")
        }
        let reference = message.reference(settings)
        let isTied = reference.map(life.underWay.contains) ?? false || life.references.values.contains(key)
        if isTied { fail("\(message.description) leaves beside a row that refers to it, or to which it refers") }
        life.references[key] = reference
        for failure in ledger.objections(to: message, writing: key) { fail(failure) }
        ledger.goesOver(message.request.version, in: key, with: message)
    }

    /// Takes the answer to a batch on its way: all of it, the beginning of it, or nothing. What every change of it meets on
    /// its way to the server, it meets alone.
    func answer(
        toBatch answers: [Result<RemoteOperationAnswer, any Error>],
        of life: DeviceLife
    ) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        guard !life.isOver else { throw Killed() }
        return try await withCheckedThrowingContinuation { continuation in
            let label = "\(Device.name(life.device)) hears of \(answers.count) together"
            waiting.append(
                WaitingPoint(label: label, life: life) { [self] random in
                    let meets = isCalm || !random.chance(settings.harm, of: 200) ? 2 : random.below(2)
                    switch meets {
                    case 0:
                        note("    It is lost.")
                        continuation.resume(throwing: Self.unreachable)
                    case 1:
                        let heard = random.below(answers.count)
                        note("    It breaks off after \(heard).")
                        let lost = answers[heard...]
                            .map { _ in Result<RemoteOperationAnswer, any Error>.failure(Self.unreachable) }
                        continuation.resume(returning: answers[..<heard] + lost)
                    default: continuation.resume(returning: answers)
                    }
                } end: {
                    continuation.resume(throwing: Killed())
                }
            )
        }
    }

    private func arrive(_ message: Message, _ life: DeviceLife, _ random: inout SeededGenerator) {
        countRequest()
        if life.isLostOnTheWay { return answer(message, life, Self.wrongRoute(message.request)) }
        if message.isCancelled, random.chance(1, of: 2) {
            if message.request.writes { lateRequests.append(message) }
            return answer(message, life, .failure(CancellationError()))
        }
        guard !isCalm, random.chance(settings.harm, of: 100) else {
            return answer(message, life, carryOut(message, hidesRow: !isCalm && random.chance(1, of: 12)))
        }
        guard message.request.writes else {
            return answer(message, life, .failure(random.pick(Self.unavailable + Self.refusals + Self.failures)))
        }
        switch random.below(10) {
        case 0: answer(message, life, .failure(Self.unreachable))
        case 1:
            lateRequests.append(message)
            answer(message, life, .failure(Self.unreachable))
        case 2:
            _ = carryOut(message)
            answer(message, life, .failure(Self.unreachable))
        case 3:
            lateRequests.append(message)
            answer(message, life, carryOut(message))
        case 4: answer(message, life, .failure(random.pick(Self.unavailable)))
        case 5: answer(message, life, .failure(random.pick(Self.refusals)))
        case 6: answer(message, life, .failure(random.pick(Self.failures)))
        case 7:
            _ = carryOut(message)
            answer(message, life, .failure(random.pick(Self.failures)))
        case 8:
            // What stands in front of the server refuses a copy, another one passes.
            lateRequests.append(message)
            answer(message, life, .failure(random.pick([Self.refused(403), Self.refused(413)])))
        default: settings.commitsLate ? beginWriting(message, life) : answer(message, life, carryOut(message))
        }
    }

    /// Stamps a change now and makes it some time later.
    private func beginWriting(_ message: Message, _ life: DeviceLife) {
        let stamp = server.clock
        note("    The server begins with it.")
        var point = WaitingPoint(label: "The server commits \(message.description)", life: nil) { [self] _ in
            answer(message, life, carryOut(message, stamp: stamp))
        } end: {
        }
        point.deadline = stamp + 60
        waiting.append(point)
    }

    /// A request arrives, or an additional copy of it, for whose answer nobody waits.
    func arriveLate(_ message: Message) {
        countRequest()
        note("Late: \(message.description) arrives.")
        _ = carryOut(message)
    }

    /// No insert of a row with a content arrives any more.
    func forgetLateInserts(of row: Record, in table: String) {
        lateRequests.removeAll { message in
            guard message.table == table, case .insert(let late) = message.request else { return false }
            return late.id == row.id && late.fields == row.fields
        }
    }

    private func carryOut(
        _ message: Message,
        stamp: Int64? = nil,
        hidesRow: Bool = false
    ) -> Result<ServerAnswer, any Error> {
        do throws(RemoteError) {
            let answer = try server.answer(
                message.request,
                in: message.table,
                from: message.device,
                stamp: stamp ?? server.clock
            )
            switch answer {
            case .deletion(.unconfirmed(status: 404)), .found(nil): message.hasMetNothing = true
            default: break
            }
            if message.request.writes { note("    The server does it: \(answer.story)") }
            return .success(answer)
        } catch {
            note("    The server refuses: \(error.status ?? 0), \(error.serverRecord?.story ?? "without a row")")
            // The row of a conflict may not be had just then.
            return .failure(hidesRow ? RemoteError(error.code, error.message, status: error.status) : error)
        }
    }

    /// Takes an answer on its way to the device.
    private func answer(_ message: Message, _ life: DeviceLife, _ result: Result<ServerAnswer, any Error>) {
        guard !life.isOver else { return message.finish(.failure(Killed())) }
        waiting.append(
            WaitingPoint(label: "\(Device.name(life.device)) hears of it: \(result.story)", life: life) { [self] _ in
                ledger.receive(result, of: message)
                if message.request.writes, let key = message.key(settings) {
                    life.underWay.remove(key)
                    life.references[key] = nil
                }
                message.finish(result)
            } end: {
                message.finish(.failure(Killed()))
            }
        )
    }

    private static func wrongRoute(_ request: ServerRequest) -> Result<ServerAnswer, any Error> {
        switch request {
        case .record: .success(.found(nil))
        case .delete: .success(.deletion(.unconfirmed(status: 404)))
        default: .failure(RemoteError(.notFound, "there is no such path", status: 404))
        }
    }

    private static var unreachable: RemoteError { RemoteError(.unreachable, "nothing answers") }
    private static var unavailable: [RemoteError] {
        [
            RemoteError(.unauthorized, "who are you", status: 401), RemoteError(.throttled, "later", status: 408),
            RemoteError(.throttled, "later", status: 429), RemoteError(.throttled, "later", status: 503),
            RemoteError(.notTheService, "bad gateway", status: 502), unreachable,
        ]
    }
    private static var refusals: [RemoteError] { [refused(400), refused(403), refused(413), refused(422)] }
    private static func refused(_ status: Int) -> RemoteError { RemoteError(.refused, "no", status: status) }
    private static var failures: [RemoteError] {
        [
            RemoteError(.serverFailure, "failed", status: 500), RemoteError(.serverFailure, "failed", status: 500),
            RemoteError(.notTheService, "gateway timed out", status: 504),
            RemoteError(.notTheService, "a page for people", status: 200),
            RemoteError(.invalidResponse, "half an answer", status: 200),
        ]
    }
}

extension Message {
    /// The row that it is about; nil when it is about none.
    func key(_ settings: WorldSettings) -> RowKey? { request.id.map { settings.key($0, in: table) } }

    /// The list that the row names.
    func reference(_ settings: WorldSettings) -> RowKey? {
        switch request {
        case .insert(let record), .update(let record, _, _), .tombstone(let record, _, _):
            record["list"]?.stringValue.map { settings.key($0, in: "lists") }
        case .undelete, .delete, .record, .confirm, .page: nil
        }
    }

    func finish(_ result: Result<ServerAnswer, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}

extension Record {
    /// Id, version and what it says.
    var story: String {
        let values = WorldSettings.columns.map { "\($0) \(self[$0]?.stringValue ?? "-")" }.joined(separator: ", ")
        return "\(id.stringValue ?? "") (\(version.map { "\($0): " } ?? "")\(isDeleted ? "deleted, " : "")\(values))"
    }
}

extension ServerAnswer {
    var story: String {
        switch self {
        case .record(let record): record.story
        case .deletion(let deletion): "\(deletion)"
        case .found(let record): record?.story ?? "no such row"
        case .confirmed: "the table is there"
        case .page(let page): "\(page.records.map(\.story)), cursor \(page.cursor ?? "-")"
        }
    }
}

extension Result<ServerAnswer, any Error> {
    fileprivate var story: String {
        switch self {
        case .success(let answer): answer.story
        case .failure(let error): "\(error)"
        }
    }
}
