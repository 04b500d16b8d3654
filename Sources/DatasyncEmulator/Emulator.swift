import Foundation
internal import SeededNumbers
import Synchronization

/// A Datasync or Azure Mobile Apps server in memory, without a network: requests in, answers out.
///
/// Requests are carried out one at a time under a lock, so every request sees all changes of those answered before
/// it and `updatedAt` rises strictly within a table; where the store commits late, in the order in which writes begin.
/// `EmulatorServer` puts one behind a socket.
public final class Emulator: Sendable {
    /// What is served; fixed for the emulator's life.
    public let configuration: EmulatorConfiguration

    struct State {
        /// The tables of all users; without users, of nobody.
        var tables: [EmulatedTable] = []
        var tableIndexes: [TableName: Int] = [:]
        /// How often the tables were reset: what was begun before is not committed after.
        var resetCount = 0
        /// The tables as they were at first or were loaded.
        var initialTables: [EmulatedTable] = []
        var initialIndexes: [TableName: Int] = [:]
        var log: RequestLog
        var faults = FaultScript()
        var randomFaults: RandomFaults
        var generator: SeededGenerator

        mutating func addTable(
            _ definition: EmulatedTableDefinition,
            of user: String?,
            _ configuration: EmulatorConfiguration
        ) -> Int {
            tables.append(EmulatedTable(definition, store: configuration.store, edition: configuration.edition))
            tableIndexes[TableName(definition.name, of: user)] = tables.count - 1
            return tables.count - 1
        }

        /// The tables of the same name that other users have.
        func tables(like index: Int) -> [EmulatedTable] {
            let name = tables[index].definition.name.lowercased()
            return tableIndexes.filter { $0.key.name == name && $0.value != index }.map { tables[$0.value] }
        }
    }

    /// A table as it is looked up: by its name in small letters, and by whose it is.
    struct TableName: Hashable {
        let name: String
        let user: String?

        init(_ name: String, of user: String?) {
            self.name = name.lowercased()
            self.user = user
        }
    }

    let state: Mutex<State>
    let files: AttachmentFiles

    /// Makes an emulator with empty tables. Of two tables whose names differ by case only, the last one counts.
    public init(_ configuration: EmulatorConfiguration) {
        self.configuration = configuration
        files = AttachmentFiles(configuration.attachmentFolder)
        var state = State(
            log: RequestLog(capacity: configuration.logCapacity),
            randomFaults: RandomFaults(rate: configuration.faultRate, seed: configuration.store.effectiveSeed),
            generator: SeededGenerator(seed: configuration.store.effectiveSeed)
        )
        let users: [String?] = configuration.users.isEmpty ? [nil] : Set(configuration.users.values).sorted()
        for user in users {
            for definition in configuration.tables {
                _ = state.addTable(definition, of: user, configuration)
            }
        }
        (state.initialTables, state.initialIndexes) = (state.tables, state.tableIndexes)
        self.state = Mutex(state)
    }

    // MARK: Requests

    /// Answers a request, unless a fault was scripted for it; either way it is logged.
    ///
    /// Faults that slow an answer down are met by waiting before this returns. A file is in memory as the answer's body.
    ///
    /// - Throws: `EmulatorError` with code `connectionDropped`, and nothing else, when a fault asks for the connection
    ///   to be closed without an answer or within one.
    public func handle(_ request: EmulatorRequest) async throws -> EmulatorResponse {
        var response = try await deliver(request)
        guard let pause = response.delivery.pause(forByteCount: response.bodyCount) else {
            throw EmulatorError(.connectionDropped, "A scripted fault ends the connection in the answer.")
        }
        // A cancelled wait ends at once, as it does in a server that stops.
        if pause > .zero { try? await Task.sleep(for: pause) }
        response.delivery = .whole
        if let file = response.file {
            do {
                response.body = Data(try file.read(at: 0, atMost: .max))
            } catch {
                return refusal(500, "the file cannot be read")
            }
            response.file = nil
        }
        return response
    }

    /// As `handle`, but leaves what a fault does to the bytes of the answer to the caller.
    package func deliver(_ request: EmulatorRequest) async throws -> EmulatorResponse {
        let response = await faultyResponse(to: request)
        let arrives = response?.delivery.isComplete == true
        state.withLock { $0.log.append(request, status: arrives ? response?.status : nil) }
        guard let response else {
            throw EmulatorError(.connectionDropped, "A scripted fault dropped the connection.")
        }
        return response
    }

    private func faultyResponse(to request: EmulatorRequest) async -> EmulatorResponse? {
        let action = state.withLock { state in
            state.faults.take(for: request) ?? state.randomFaults.next()
        }
        switch action {
        case nil: return await respond(to: request)
        case .respond(let response): return response
        case .applyThenRespond(let response):
            _ = await respond(to: request)
            return response
        case .applyTwice:
            _ = await respond(to: request)
            return await respond(to: request)
        case .drop: return nil
        case .applyThenDrop:
            _ = await respond(to: request)
            return nil
        case .cutRequest(let count):
            if request.segments.flatMap(configuration.attachmentID) != nil {
                _ = await respond(to: request.cut(after: count))
            }
            return nil
        case .delay(let duration):
            // Being cancelled while waiting means the server stops: the request is then served without further ado.
            try? await Task.sleep(for: duration)
            return await respond(to: request)
        case .applyThenDeliver(let delivery):
            var response = await respond(to: request)
            response.delivery = delivery
            return response
        }
    }

    /// What is answered to bytes that are not a request, or none that can be read to its end. Nothing is logged.
    ///
    /// - Parameters:
    ///   - status: The status.
    ///   - reason: What is wrong, for people; a Datasync server keeps it to itself.
    /// - Returns: The answer, in the form in which the dialect refuses requests.
    func refusal(_ status: Int, _ reason: String) -> EmulatorResponse {
        guard !configuration.isDotNet else { return EmulatorResponse(status) }
        return Protocol2Handler(configuration: configuration, request: EmulatorRequest("", "")).error(status, reason)
    }

    /// What became of a request under the lock: an answer, and the change that is still to be committed for it.
    private struct Outcome {
        var response: EmulatorResponse
        var pending: Pending?

        struct Pending {
            var change: TableChange
            var table: Int
            var resetCount: Int
            var delay: Duration
        }

        init(_ response: EmulatorResponse, _ pending: Pending? = nil) {
            self.response = response
            self.pending = pending
        }
    }

    private func respond(to request: EmulatorRequest) async -> EmulatorResponse {
        if let id = request.segments.flatMap(configuration.attachmentID) {
            switch user(of: request) {
            case .refused(let response): return response
            case .known(let user):
                return await AttachmentHandler(files: files, request: request, user: user).response(to: id)
            }
        }
        let outcome = begin(request)
        guard let pending = outcome.pending else { return outcome.response }
        await configuration.store.pause(pending.delay)
        let instead: EmulatorResponse? = state.withLock { state in
            // A reset dropped the change, so that no answer may say that it was made.
            guard state.resetCount == pending.resetCount else { return refusal(503, "The tables were reset") }
            guard configuration.isDotNet else {
                return Protocol2Handler(configuration: configuration, request: request)
                    .commit(pending.change, to: &state.tables[pending.table])
            }
            return Protocol3Handler(configuration: configuration, request: request)
                .commit(pending.change, to: &state.tables[pending.table])
        }
        return instead ?? outcome.response
    }

    private enum Asking {
        /// By whom; nil where there are no users.
        case known(String?)
        case refused(EmulatorResponse)
    }

    private func user(of request: EmulatorRequest) -> Asking {
        guard !configuration.users.isEmpty else { return .known(nil) }
        guard let user = request.bearerToken.flatMap({ configuration.users[$0] }) else {
            return .refused(EmulatorResponse(401, headers: ["WWW-Authenticate": "Bearer"]))
        }
        return .known(user)
    }

    private func begin(_ request: EmulatorRequest) -> Outcome {
        let user: String?
        switch self.user(of: request) {
        case .refused(let response): return Outcome(response)
        case .known(let name): user = name
        }
        if configuration.isDotNet {
            guard request.lineLength <= RequestLimits.requestLine else { return Outcome(EmulatorResponse(414)) }
            guard configuration.accepts(request) else { return Outcome(EmulatorResponse(413)) }
            guard let segments = request.kestrelSegments else { return Outcome(EmulatorResponse(400)) }
            return state.withLock { state in
                guard let (index, id) = route(segments, user, in: &state) else { return Outcome(EmulatorResponse(404)) }
                var handler = Protocol3Handler(configuration: configuration, request: request)
                if configuration.usersShareIDs { handler.others = state.tables(like: index) }
                return run(in: &state, index) { handler.response(id: id, table: &$0) }
            }
        } else {
            let handler = Protocol2Handler(configuration: configuration, request: request)
            guard let segments = request.segments else { return Outcome(handler.page(400, "Failed to decode param")) }
            guard segments.first?.lowercased() == "tables", segments.count > 1 else {
                return Outcome(handler.notRouted)
            }
            if let refusal = handler.refusal { return Outcome(refusal) }
            return state.withLock { state in
                guard let (index, id) = route(segments, user, in: &state) else { return Outcome(handler.notRouted) }
                return run(in: &state, index) { handler.response(id: id, table: &$0) }
            }
        }
    }

    /// Lets a handler work on a table; where commits are late, without letting others see what it changes.
    private func run(
        in state: inout State,
        _ table: Int,
        _ handle: (inout EmulatedTable) -> EmulatorResponse
    ) -> Outcome {
        guard configuration.store.commitDelay > .zero else { return Outcome(handle(&state.tables[table])) }
        let (response, change) = state.tables[table].preparing(handle)
        guard let change else { return Outcome(response) }
        let delay = configuration.store.commitDelay * Double.random(in: 0...1, using: &state.generator)
        return Outcome(
            response,
            Outcome.Pending(change: change, table: table, resetCount: state.resetCount, delay: delay)
        )
    }

    /// The table a path leads to, and the id if it names one.
    private func route(_ segments: [String], _ user: String?, in state: inout State) -> (table: Int, id: String?)? {
        guard (2...3).contains(segments.count), segments[0].lowercased() == "tables" else { return nil }
        let id = segments.count == 3 ? segments[2] : nil
        let name = segments[1]
        if let index = state.tableIndexes[TableName(name, of: user)] { return (index, id) }
        guard configuration.createsTablesOnDemand, !name.isEmpty else { return nil }
        return (state.addTable(EmulatedTableDefinition(name), of: user, configuration), id)
    }

    // MARK: Faults and log

    /// Scripts something to go wrong. Faults are met in the order they were added.
    public func inject(_ fault: Fault) {
        state.withLock { $0.faults.add(fault) }
    }

    /// Forgets the faults that have not happened yet.
    public func clearFaults() {
        state.withLock { $0.faults.clear() }
    }

    /// How many times a fault is still going to happen.
    public var pendingFaults: Int {
        state.withLock { $0.faults.remaining }
    }

    /// The latest requests, oldest first, in the order they were answered.
    public var requests: [LoggedRequest] {
        state.withLock { $0.log.latest }
    }

    /// Forgets the requests logged so far.
    public func clearRequests() {
        state.withLock { $0.log.clear() }
    }
}
