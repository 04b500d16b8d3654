#if !canImport(Darwin)
extension CurlTransport {
    /// Sends a request with streamed bodies; see ``ClientTransport/send(_:body:receiving:)``.
    public func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice
    ) async throws -> HTTPResponse {
        try await send(request, body: body, receiving: choose) { _ in }
    }

    package func send(
        _ request: HTTPRequest,
        body: StreamedBody?,
        receiving choose: @escaping ReceptionChoice,
        whenEndable: (@escaping @Sendable () -> Void) -> Void
    ) async throws -> HTTPResponse {
        let address = try request.settingAside(body).address()
        let number = driver.nextNumber()
        let stream = TransferStream(body, choose) { [driver] in driver.resume(number) }
        let timeout = request.timeout ?? options.timeout
        let order = TransferRequest(request, to: address, timeout: timeout, stream: stream)
        let content = Task { [driver] in await stream.bringContent { driver.cancel(number) } }
        let handing = Task { [driver] in await stream.handOn { driver.cancel(number) } }
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(
                try await exchange(number, order) { end in
                    whenEndable {
                        end()
                        handing.cancel()
                    }
                }
            )
        } catch {
            result = .failure(error)
        }
        stream.end()
        content.cancel()
        // What has come belongs to whoever asked, also when the rest of it is missing; not when nobody wants it any more.
        if case .failure(is CancellationError) = result { handing.cancel() }
        await content.value
        await withTaskCancellationHandler {
            await handing.value
        } onCancel: {
            handing.cancel()
        }
        if let failure = stream.failure { throw failure }
        return try result.get()
    }
}
#endif
