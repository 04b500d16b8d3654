/// What a request for a file says in its fields, as in the IETF's resumable uploads (draft-ietf-httpbis-resumable-upload).
struct AttachmentRequest {
    let request: EmulatorRequest

    /// The first byte that is sent.
    var offset: Int64? { request.headers["Upload-Offset"].flatMap(Self.integer) }

    /// Whether the file ends with this request.
    var isComplete: Bool? {
        switch request.headers["Upload-Complete"] {
        case "?1": true
        case "?0": false
        default: nil
        }
    }

    /// How long the request says in one way or the other that the whole file is; nil when it says nothing.
    ///
    /// - Throws: `Contradiction` when it says two things.
    func length(from offset: Int64) throws(Contradiction) -> Int64? {
        let said = request.headers["Upload-Length"].flatMap(Self.integer)
        guard isComplete == true, let rest = request.headers["Content-Length"].flatMap(Self.integer) else {
            return said
        }
        guard said == nil || said == offset + rest else { throw Contradiction() }
        return offset + rest
    }

    struct Contradiction: Error {}

    /// A whole number of at most fifteen digits that is not negative (RFC 9651 3.3.1).
    private static func integer(_ text: String) -> Int64? {
        guard text.utf8.count <= 15, let number = ByteClasses.number(text.utf8) else { return nil }
        return Int64(number)
    }

    /// What a field `Range` comes to for a file of some length.
    enum Range: Equatable {
        /// None, one that is not understood, or several: the whole file is the answer (RFC 9110 14.2).
        case whole
        case bytes(ClosedRange<Int64>)
        /// It begins behind the end.
        case unsatisfiable
    }

    func range(in file: FilePart) -> Range {
        guard let text = request.headers["Range"], text.lowercased().hasPrefix("bytes=") else { return .whole }
        if let tag = request.headers["If-Range"], tag != file.tag { return .whole }
        let parts = text.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == 2, parts != ["", ""] else { return .whole }
        let (first, last) = (Self.integer(parts[0]), Self.integer(parts[1]))
        guard parts[0].isEmpty || first != nil, parts[1].isEmpty || last != nil else { return .whole }
        guard let first else {
            guard let count = last, count > 0, file.length > 0 else { return .unsatisfiable }
            return .bytes(max(0, file.length - count)...file.length - 1)
        }
        guard first < file.length else { return .unsatisfiable }
        guard first <= last ?? first else { return .whole }
        return .bytes(first...min(last ?? .max, file.length - 1))
    }
}
