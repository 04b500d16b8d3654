#if !canImport(Darwin)
internal import CCurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Which authorities are trusted: the system's, and those of one more file.
///
/// libcurl keeps a file of authorities in memory for all connections, but reads a folder of them again for each, which
/// takes longer than the rest of making one. So where the system has a bundle, it is used without the folder; and with a
/// file of the caller's, bundle and file become one, in memory.
@safe
final class TrustStore {
    private let additionalFile: String?
    /// The file made of bundle and additional file: no more than a descriptor.
    private var joined: Int32?

    init(additionalFile: String?) { self.additionalFile = additionalFile }

    deinit { if let joined { close(joined) } }

    /// - Throws: ``TransportError/Code/unreadableCertificates``.
    func set(on handle: EasyHandle) throws(TransportError) {
        let known = unsafe ccurl_system_bundle(handle.pointer).map { unsafe String(cString: $0) }
        let bundle = known.flatMap { unsafe access($0, R_OK) == 0 ? $0 : nil }
        switch (bundle, additionalFile) {
        case (nil, nil): break
        case (let bundle?, nil):
            handle.set(CURLOPT_CAINFO, bundle)
            handle.set(CURLOPT_CAPATH, nil)
        case (nil, let file?):
            _ = try Self.certificates(in: file)
            handle.set(CURLOPT_CAINFO, file)
        case (let bundle?, let file?):
            if joined == nil { joined = try join(bundle, file) }
            handle.set(CURLOPT_CAINFO, joined.map { "/proc/self/fd/\($0)" })
            handle.set(CURLOPT_CAPATH, nil)
        }
    }

    private func join(_ bundle: String, _ file: String) throws(TransportError) -> Int32 {
        let bytes = try Self.certificates(in: file) + [0x0A] + Self.certificates(in: bundle)
        let descriptor = unsafe ccurl_memory_file("certificates")
        guard descriptor >= 0 else { throw Self.unreadable(file, errno) }
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else {
                let code = errno
                close(descriptor)
                throw Self.unreadable(file, code)
            }
            written += count
        }
        return descriptor
    }

    /// The bytes of a file that holds at least one certificate. libcurl would take one that holds none without a word
    /// when it follows another.
    private static func certificates(in file: String) throws(TransportError) -> [UInt8] {
        let descriptor = unsafe open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(file, errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 else { throw unreadable(file, errno) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----") else {
            throw TransportError(
                .unreadableCertificates,
                "'\(file)' holds no certificate in PEM form; name a file with '-----BEGIN CERTIFICATE-----'.",
                fate: .notSent
            )
        }
        return bytes
    }

    private static func unreadable(_ file: String, _ code: Int32) -> TransportError {
        TransportError(
            .unreadableCertificates,
            "The certificates in '\(file)' cannot be read (\(unsafe String(cString: strerror(code)))); check the file.",
            fate: .notSent
        )
    }
}
#endif
