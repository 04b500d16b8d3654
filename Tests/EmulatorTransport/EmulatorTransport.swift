public import DatasyncEmulator
public import Foundation
public import HTTPTransport

/// Carries requests to an emulator in the same process, without sockets: for tests that are about something else.
///
/// Nothing gets lost that was not asked for: a fault that drops the connection is an error whose request may have been
/// processed. Timeouts are not kept.
public struct EmulatorTransport: ClientTransport {
    /// An address for the remote that uses this; nobody is asked for it.
    public static let url = URL(string: "https://emulator.example")!

    private let answer: @Sendable (EmulatorRequest) async throws -> EmulatorResponse

    /// Carries requests to the given emulator, or to what answers in its place.
    public init(
        _ emulator: Emulator,
        answering: @escaping @Sendable (EmulatorRequest, Emulator) async throws -> EmulatorResponse = {
            try await $1.handle($0)
        }
    ) {
        answer = { try await answering($0, emulator) }
    }

    /// Hands a request over; see `ClientTransport`.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try Task.checkCancellation()
        var asked = EmulatorRequest(
            request.method.rawValue,
            request.path ?? "/",
            body: Data(request.body ?? [])
        )
        asked.headers["Host"] = request.authority
        for field in request.headerFields { asked.headers[field.name.rawName] = field.value }
        let answer: EmulatorResponse
        do {
            answer = try await self.answer(asked)
        } catch let error as EmulatorError where error.code == .connectionDropped {
            throw TransportError(
                .connectionLost,
                "the emulator dropped the connection, as it was told to",
                fate: .mayHaveBeenProcessed,
                cause: error
            )
        }
        try Task.checkCancellation()
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        if answer.status != 204 { fields[.contentLength] = "\(answer.body.count)" }
        if let date = HTTPField.Name("Date"), fields[date] == nil { fields[date] = EmulatorResponse.dateOfNow }
        return HTTPResponse(
            status: .init(code: answer.status),
            headerFields: fields,
            body: request.method == .head ? [] : Array(answer.body)
        )
    }
}
