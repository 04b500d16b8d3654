import HTTPTransport
import RecordJSON
import RemoteContract
import SyncContract

extension NotesRemote {
    /// Sends changes as the lines of one request, which is answered line by line.
    func send(_ batch: [RemoteOperation]) async throws -> [Result<RemoteOperationAnswer, any Error>] {
        guard !batch.isEmpty else { return [] }
        let writes = batch.map { operation in Result { try NotesWrite(operation) } }
        // What cannot be written is not sent; the others are.
        var sent: [NotesWrite] = []
        for case .success(let write) in writes { sent.append(write) }
        var request = request(.post, "/batch")
        request.body = Array(try sent.map { try $0.line }.joined(separator: "\n").utf8)
        let answer = try await exchange(request)
        guard answer.status.code == 200 else { throw RemoteError(status: answer.status.code) }
        var lines = answer.body.split(separator: UInt8(ascii: "\n"))[...]
        guard lines.count == sent.count else {
            throw RemoteError(.invalidResponse, "The answer to a batch has not as many lines as the batch.")
        }
        return zip(batch, writes)
            .map { operation, write in
                Result {
                    let write = try write.get()
                    let outcome = try NotesOutcome(of: write, line: lines.removeFirst())
                    guard case .delete = operation else { return .row(try outcome.written()) }
                    return .deletion(try outcome.deletion())
                }
            }
    }
}

extension NotesWrite {
    init(_ operation: RemoteOperation) throws {
        switch operation {
        case .insert(let record, let table): try self.init(record, in: table, base: .new)
        case .update(let record, let table, let version, let restoring):
            try self.init(record, in: table, base: Base(version), restoring: restoring)
        case .delete(let id, let table, let version): self.init(deletionOf: id, from: table, base: Base(version))
        }
    }
}

extension NotesOutcome {
    /// What a line of the answer to a batch says: the id, the status and the row.
    init(of write: NotesWrite, line: some Collection<UInt8>) throws {
        let lines = TableDefinition("lines", columns: [.init("status", .int64), .init("row", .json)])
        guard let text = JSONText(String(decoding: line, as: UTF8.self)) else {
            throw RemoteError(.invalidResponse, "A line of the answer to a batch is no JSON.")
        }
        let answer = try RecordCoding(lines).record(from: text)
        let row = answer["row"]?.jsonValue.map { $0.text == "null" ? "" : $0.text } ?? ""
        try self.init(of: write, Int(answer["status"]?.int64Value ?? 0), Array(row.utf8))
    }
}
