#if canImport(Darwin)
internal import Foundation
internal import Synchronization

extension URLSessionTransport {
    /// Sends a request with streamed bodies; see ``ClientTransport/send(_:body:receiving:)``.
    ///
    /// Untested. The system decides how much it holds of an answer while the receiver works, and how long the exchange may
    /// stand still: the request's timeout for every pause.
    public func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice
    ) async throws -> HTTPResponse {
        let (address, prepared) = try prepare(request.settingAside(body))
        guard !isClosed.withLock({ $0 }) else { throw TransportError.closed(fate: .notSent) }
        var asked = prepared
        asked.timeoutInterval = (request.timeout ?? options.timeout) / .seconds(1)
        var content: Task<Void, any Error>?
        if let body {
            let pipe = BodyPipe()
            asked.httpBodyStream = pipe.input
            asked.setValue("\(body.length)", forHTTPHeaderField: "Content-Length")
            content = Task { try await pipe.carry(body) }
        }
        do {
            let answer = try await receive(asked, from: address.server, choose)
            content?.cancel()
            return answer
        } catch {
            content?.cancel()
            // A body that breaks off breaks the exchange off: it is the reason for what the system says.
            if case .failure(let failure)? = await content?.result, !(failure is CancellationError) { throw failure }
            try Task.checkCancellation()
            throw error is URLError ? TransportError.of(error, server: address.server) : error
        }
    }

    private func receive(
        _ request: URLRequest,
        from server: String,
        _ choose: ReceptionChoice
    ) async throws -> HTTPResponse {
        let (bytes, head) = try await session.bytes(for: request)
        guard var answer = HTTPResponse(head) else { throw TransportError.invalidResponse(server, "its head is none") }
        let limit: Int64
        let receive: (@Sendable ([UInt8]) async throws -> Void)?
        switch try choose(answer) {
        case .held: (limit, receive) = (Int64(options.maximumBodySize), nil)
        case .streamed(let most, let receiver): (limit, receive) = (most, receiver)
        }
        var count: Int64 = 0
        var piece: [UInt8] = []
        do {
            for try await byte in bytes {
                count += 1
                guard count <= limit else { throw TransportError.tooLarge(server, body: Int(clamping: limit)) }
                piece.append(byte)
                guard let receive, piece.count == 65_536 else { continue }
                try await receive(piece)
                piece.removeAll(keepingCapacity: true)
            }
        } catch let error as URLError {
            // What has come belongs to whoever asked, also when the rest of it is missing.
            if let receive, !piece.isEmpty, error.code != .cancelled { try await receive(piece) }
            throw error
        }
        guard let receive else {
            answer.body = piece
            return answer
        }
        if !piece.isEmpty { try await receive(piece) }
        return answer
    }
}

/// Carries a body into a stream of the system's, which waits until it is read.
///
/// Unchecked, because streams are not Sendable: one end is the system's, the other is used on one queue only.
private final class BodyPipe: @unchecked Sendable {
    let input: InputStream
    private let output: OutputStream
    private let queue = DispatchQueue(label: "SealedSync body")

    init() {
        var (input, output): (InputStream?, OutputStream?)
        Stream.getBoundStreams(withBufferSize: 262_144, inputStream: &input, outputStream: &output)
        guard let input, let output else { preconditionFailure("the system gives both ends or none") }
        (self.input, self.output) = (input, output)
    }

    func carry(_ body: StreamedBody) async throws {
        defer { queue.async { [self] in output.close() } }
        queue.async { [self] in output.open() }
        try await body.read { piece in
            await withCheckedContinuation { continuation in
                queue.async { [self] in continuation.resume(returning: write(piece)) }
            }
        }
    }

    /// False when the other end is gone.
    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBufferPointer { buffer in
                guard let start = unsafe buffer.baseAddress else { return 0 }
                return unsafe output.write(start, maxLength: buffer.count)
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
#endif
