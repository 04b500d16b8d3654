internal import OfflineSync
internal import RemoteContract
internal import SyncContract

/// What work on files is done with.
struct AttachmentWork: Sendable {
    let store: any SyncContextDataSource
    let folder: AttachmentFolder
    let references: AttachmentReferences
    /// What carries files; nil without a server.
    let transport: (any AttachmentTransport)?
    let spaceLimit: Int64
    /// Which files are fetched before somebody asks for them; nil for none.
    let ahead: AheadRules?
    let environment: AttachmentEnvironment
    let states: AttachmentStates
    let gate: AttachmentGate
    let clock = SetClock()

    var now: Timestamp { Timestamp(environment.date()) }

    /// What the store knows of a file.
    func file(_ id: AttachmentID) async throws -> AttachmentFile? { try await store.read { try $0.attachment(id) } }

    /// Opens a file that is here, under whatever name: it gets another one when it is encrypted anew.
    ///
    /// - Throws: `StoreError` with code `notFound` when there is no such file, `damaged`, as `damage(of:)` says.
    func open(_ file: AttachmentFile) async throws -> OpenAttachment {
        do {
            return try await FileWork.run { [self] _ in
                OpenAttachment(try folder.open(file), gate) { await damage(of: file) }
            }
        } catch let error as StoreError where error.code == .damaged {
            throw await damage(of: file)
        } catch let error as StoreError where error.code == .notFound {
            guard let now = try await self.file(file.id), now.isHere, now.name != file.name else { throw error }
            return try await open(now)
        }
    }

    /// Changes what the store knows of a file, in one transaction.
    ///
    /// - Returns: Whether it knows the file at all.
    @discardableResult
    func change(_ id: AttachmentID, _ body: @escaping @Sendable (inout AttachmentFile) -> Void) async throws -> Bool {
        let isKnown = try await store.write { transaction in
            guard var file = try transaction.attachment(id) else { return false }
            body(&file)
            try transaction.save(file)
            return true
        }
        await states.changed(id)
        return isKnown
    }

    /// Carries a file, and says how that has ended.
    func perform(_ transfer: Transfer) async -> (TransferMachine.Outcome, (any Error)?) {
        do {
            switch transfer.kind {
            case .upload: try await upload(transfer.id)
            case .download: try await download(transfer.id)
            case .ahead: try await downloadAhead(transfer.id)
            case .remove: try await removeOnServer(transfer.id)
            }
            return (.done, nil)
        } catch {
            let error = (error as? OtherContent).map { RemoteError(.otherContent, $0.description, cause: $0) } ?? error
            let outcome = TransferMachine.Outcome(error, transfer.kind)
            guard case .refused = outcome, transfer.kind != .remove else { return (outcome, error) }
            do {
                let words = Self.words(error)
                try await change(transfer.id) { $0.failure = words }
                return (outcome, error)
            } catch {
                return (.failed("store", after: nil), error)
            }
        }
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as RemoteError: error.message
        case let error as StoreError: error.message
        default: "\(error)"
        }
    }
}

/// The server has, or gives, another content under the name of a file.
struct OtherContent: Error, CustomStringConvertible {
    let description: String
}

extension TransferMachine.Outcome {
    /// What an error means for a file.
    init(_ error: any Error, _ kind: Transfer.Kind) {
        switch error {
        // Nobody has cancelled the transfer: who gives the token may have.
        case is CancellationError where !Task.isCancelled: self = .failed("cancelled", after: nil)
        case is CancellationError: self = .cancelled
        case let error as RemoteError:
            switch error.code {
            case .unreachable, .throttled, .notTheService, .unauthorized:
                self = .noService("\(error.code)", after: error.retryAfter)
            case .serverFailure, .invalidResponse, .conflict, .notFound:
                self = .failed("\(error.code)", after: error.retryAfter)
            default: self = kind == .remove ? .failed("\(error.code)", after: error.retryAfter) : .refused
            }
        case let error as StoreError:
            switch error.code {
            case .locked, .closed: self = .cancelled
            case .damaged, .notFound: self = .refused
            default: self = .failed("\(error.code)", after: nil)
            }
        default: self = .failed("\(type(of: error))", after: nil)
        }
    }
}
