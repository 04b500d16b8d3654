#if SecretService && os(Linux)
internal import CLibSecret
internal import SecretMemory
internal import StoreKeys

/// One request to the service, on a thread that may wait, which ends when its task is cancelled.
struct ServiceRequest: Sendable {
    let item: ServiceItem
    let mayPrompt: Bool
    let busAddress: String?

    /// What is asked for, on the thread that waits.
    struct Call {
        fileprivate let request: ServiceRequest
        fileprivate let cancellation: Cancellation
    }

    func perform<Result: Sendable>(_ body: @escaping @Sendable (Call) throws -> Result) async throws -> Result {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await BlockingWork.run { try body(Call(request: self, cancellation: cancellation)) }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

extension ServiceRequest.Call {
    func store(_ secret: SecretBytes, label: String) throws {
        try unsafe secret.withUnsafeBytes { bytes in
            try unsafe call { unsafe csecret_store(&$0, label, bytes.baseAddress, bytes.count, &$1) }
        }
    }

    func lookUp() throws -> SecretBytes {
        try unsafe SecretBytes(count: ServiceItem.secretCount) { bytes in
            try unsafe call { unsafe csecret_lookup(&$0, bytes.baseAddress, gsize(bytes.count), &$1) }
        }
    }

    func clear() throws {
        try unsafe call { unsafe csecret_clear(&$0, &$1) }
    }

    private func call(
        _ body: (inout csecret_request, inout UnsafeMutablePointer<CChar>?) -> csecret_outcome
    ) throws {
        var message: UnsafeMutablePointer<CChar>?
        let outcome = unsafe request.item.storeAttribute.withCString { store in
            unsafe request.item.slotAttribute.withCString { slot in
                func ask(_ address: UnsafePointer<CChar>?) -> csecret_outcome {
                    var request = unsafe csecret_request(
                        address: address,
                        store: store,
                        slot: slot,
                        may_prompt: self.request.mayPrompt ? 1 : 0,
                        cancellable: cancellation.cancellable
                    )
                    return unsafe body(&request, &message)
                }
                guard let address = request.busAddress else { return ask(nil) }
                return unsafe address.withCString { unsafe ask($0) }
            }
        }
        let text = unsafe message.map { unsafe String(cString: $0) } ?? ""
        unsafe g_free(message)
        try check(outcome, text)
    }

    private func check(_ outcome: csecret_outcome, _ text: String) throws {
        let sentence: String
        switch outcome {
        case csecret_done: return
        case csecret_cancelled: throw CancellationError()
        case csecret_missing:
            sentence =
                "The Secret Service has no item for this slot (store \(request.item.storeAttribute), slot "
                + "\(request.item.slotAttribute)): it is another user's, or was deleted. Open the store with something else "
                + "and replace the slot."
        case csecret_locked:
            sentence =
                request.mayPrompt
                ? "The collection of the Secret Service is locked, and nobody unlocked it. Unlock it and try again."
                : "The collection of the Secret Service is locked, and asking is not allowed. Unlock it and try again."
        case csecret_other_size:
            sentence = "The item that the Secret Service has for this slot is not one that this library has stored."
        default:
            sentence = "The Secret Service cannot be reached. Is there a session, and a service in it? It says: \(text)"
        }
        throw KeyError(.secretUnavailable, sentence)
    }
}

/// GLib's word for a cancellation, which any thread may say.
///
/// `@unchecked Sendable` holds because the object counts its references and guards its state itself.
@safe
final class Cancellation: @unchecked Sendable {
    let cancellable: UnsafeMutablePointer<GCancellable>?

    init() { unsafe cancellable = g_cancellable_new() }

    deinit { unsafe g_object_unref(cancellable) }

    func cancel() { unsafe g_cancellable_cancel(cancellable) }
}
#endif
