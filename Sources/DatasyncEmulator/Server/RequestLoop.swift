import Foundation

/// What the thread of a connection does: reads requests and answers them one after the other, until either side ends.
struct RequestLoop {
    let connection: Connection
    let stream: any ByteStream
    let emulator: Emulator
    let settings: ServerSettings
    let scheme: String
    let stopSignal: StopSignal
    let respond: EmulatorServer.Responder

    func run() {
        do throws(TransferFailure) {
            try stream.begin(until: .now + settings.headLimit)
        } catch {
            return end(announced: false)
        }
        do throws(TransferFailure) {
            try respondToRequests()
        } catch {
            // The client is gone or does nothing, and nobody is left to be told so.
        }
    }

    private func respondToRequests() throws(TransferFailure) {
        var reader = RequestReader(RequestLimits(body: emulator.configuration.maximumBodySize))
        var phase = RequestReader.Phase.idle
        var deadline = ContinuousClock.now + limit(of: .idle)
        while true {
            switch reader.next() {
            case .request(let request):
                guard try serve(request) else { return }
                (phase, deadline) = (.idle, .now + limit(of: .idle))
            case .continueIsExpected: try stream.send(ResponseBytes.continue[...], limit: settings.sendLimit)
            case .refusal(let refusal, let head): return try refuse(refusal, head)
            case nil:
                if reader.phase != phase {
                    phase = reader.phase
                    deadline = .now + limit(of: phase)
                }
                guard let bytes = try receive(phase, until: deadline) else { return }
                reader.append(bytes)
            }
        }
    }

    private func limit(of phase: RequestReader.Phase) -> Duration {
        switch phase {
        case .idle: settings.idleLimit
        case .head: settings.headLimit
        case .body: settings.bodyLimit
        }
    }

    /// More bytes; nil when there will be none, which was answered if a request is missing its rest.
    private func receive(
        _ phase: RequestReader.Phase,
        until deadline: ContinuousClock.Instant
    ) throws(TransferFailure) -> [UInt8]? {
        do throws(TransferFailure) {
            // A client that keeps sending keeps the socket readable, so that the wait alone would never end.
            guard deadline > .now else { throw TransferFailure.timedOut }
            let bytes = try stream.receive(until: deadline)
            return bytes.isEmpty ? nil : bytes
        } catch {
            guard error == .timedOut else { throw error }
            if phase == .idle { end() } else { try refuse(.tooSlow, nil) }
            return nil
        }
    }

    // MARK: Answers

    /// Answers a request; false when the connection is of no further use.
    private func serve(_ received: ReceivedRequest) throws(TransferFailure) -> Bool {
        let head = received.head
        guard let response = makeResponse(to: request(head, body: received.body)) else {
            end(announced: false)
            return false
        }
        let persistence: ResponseBytes.Persistence =
            !head.isPersistent || connection.isStopped ? .ends : head.line.isVersion1Point0 ? .announced : .usual
        return try send(response, to: head, persistence)
    }

    /// Answers what is not a request. One with too large a body is handed on as such, so that it is answered and logged
    /// as any other.
    private func refuse(_ refusal: RequestRefusal, _ head: RequestHead?) throws(TransferFailure) {
        var response: EmulatorResponse? = emulator.refusal(refusal.status, refusal.reason)
        if refusal == .bodyTooLarge, let head {
            var request = request(head, body: [])
            request.isBodyTooLarge = true
            response = makeResponse(to: request)
        }
        guard let response else { return end(announced: false) }
        _ = try send(response, to: head, .ends)
    }

    private func request(_ head: RequestHead, body: [UInt8]) -> EmulatorRequest {
        var request = EmulatorRequest(head.line.method, head.line.target, headers: head.fields, body: Data(body))
        request.scheme = scheme
        return request
    }

    /// What the handler answers; nil when the connection is to end without an answer.
    private func makeResponse(to request: EmulatorRequest) -> EmulatorResponse? {
        do {
            return try HandlerWait.run(on: connection) { [respond, emulator] in
                try await respond(request, emulator)
            }
        } catch is CancellationError {
            return nil
        } catch let error as EmulatorError where error.code == .connectionDropped {
            return nil
        } catch {
            return emulator.refusal(500, "the handler failed")
        }
    }

    // MARK: Bytes

    /// Sends an answer as a fault may ask for; false when the connection ended.
    private func send(
        _ response: EmulatorResponse,
        to head: RequestHead?,
        _ persistence: ResponseBytes.Persistence
    ) throws(TransferFailure) -> Bool {
        let isToHead = head?.line.method.uppercased() == "HEAD"
        let isOld = head?.line.isVersion1Point0 == true
        let refused = emulator.refusal(500, "the answer has a status or a field that cannot be sent")
        guard
            let bytes = ResponseBytes.encode(response, isToHead: isToHead, persistence, toVersion1Point0: isOld)
                ?? ResponseBytes.encode(refused, isToHead: isToHead, persistence)
        else { return false }
        let sender = ResponseSender(
            stream: stream,
            socket: connection.socket,
            settings: settings,
            stopSignal: stopSignal
        )
        switch try sender.send(bytes, response.delivery) {
        case .delivered where persistence != .ends: return true
        case .delivered: end()
        case .cut: end(announced: false)
        case .reset: break
        }
        return false
    }

    /// Ends the connection so that the client still gets what was sent: the end follows the last byte, and what it
    /// goes on sending meanwhile is read over, for unread bytes would turn the end into a reset (RFC 9112 9.6).
    private func end(announced: Bool = true) {
        if announced { stream.announceEnd() }
        connection.socket.endSending()
        let deadline = ContinuousClock.now + settings.lingerLimit
        while deadline > .now, let bytes = try? connection.socket.receive(until: deadline), !bytes.isEmpty {}
    }
}
