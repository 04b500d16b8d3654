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
        let limits = RequestLimits(body: emulator.configuration.maximumBodySize)
        var reader = RequestReader(limits) { emulator.configuration.takesFile($0.line.method, $0.line.target) }
        var phase = RequestReader.Phase.idle
        var deadline = ContinuousClock.now + limit(of: .idle)
        while true {
            switch reader.next() {
            case .request(let request):
                guard try serve(request) else { return }
                (phase, deadline) = (.idle, .now + limit(of: .idle))
            case .streamed(let head):
                guard try serve(head, &reader) else { return }
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
        guard let response = makeResponse(to: request(received.head, body: received.body)) else {
            end(announced: false)
            return false
        }
        return try send(response, to: received.head, persistence(after: received.head))
    }

    /// Answers a request whose body comes as it is asked for. One that is answered before it is there as a whole ends the
    /// connection.
    private func serve(_ head: RequestHead, _ reader: inout RequestReader) throws(TransferFailure) -> Bool {
        var isContinueDue = head.expectsContinue
        let response = makeResponse(to: request(head, body: []), isStreamed: true) {
            guard reader.missingBody > 0 else { return nil }
            let there = reader.takeBody()
            guard there.isEmpty else { return there }
            if isContinueDue { try stream.send(ResponseBytes.continue[...], limit: settings.sendLimit) }
            isContinueDue = false
            let bytes = try stream.receive(until: .now + settings.bodyLimit)
            guard !bytes.isEmpty else { throw TransferFailure.disconnected }
            reader.append(bytes)
            return reader.takeBody()
        }
        guard let response else {
            end(announced: false)
            return false
        }
        return try send(response, to: head, reader.missingBody > 0 ? .ends : persistence(after: head))
    }

    private func persistence(after head: RequestHead) -> ResponseBytes.Persistence {
        if !head.isPersistent || connection.isStopped { return .ends }
        return head.line.isVersion1Point0 ? .announced : .usual
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
    private func makeResponse(
        to request: EmulatorRequest,
        isStreamed: Bool = false,
        feed: () throws -> [UInt8]? = { nil }
    ) -> EmulatorResponse? {
        do {
            return try HandlerWait.run(on: connection, feed: feed) { [respond, emulator] more in
                var request = request
                if isStreamed { request.content = more }
                return try await respond(request, emulator)
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
        let body = isToHead ? nil : response.file
        switch try sender.send(ResponseSource(bytes: bytes, file: body), response.delivery) {
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
