#if os(Linux)
internal import Foundation
package import SecretMemory

/// Secrets to look for in this process's own memory, in pages that the search leaves out.
@safe
package final class MemoryScan {
    private static let capacity = 4096
    private static let chunk = 1 << 20

    /// `memmem`, which the module of the C library does not show.
    private typealias Search =
        @convention(c) (UnsafeRawPointer?, Int, UnsafeRawPointer?, Int) -> UnsafeMutableRawPointer?

    /// The system did not give what the search needs.
    package struct Failure: Error {
        package let what: String
    }

    private let search: Search
    private let needles: UnsafeMutableRawBufferPointer
    private let buffer: UnsafeMutableRawBufferPointer
    private var names: [(name: String, range: Range<Int>)] = []

    package init() throws {
        guard let symbol = unsafe dlsym(nil, "memmem") else { throw Failure(what: "memmem") }
        unsafe search = unsafeBitCast(symbol, to: Search.self)
        unsafe needles = try Self.pages(Self.capacity)
        unsafe buffer = try Self.pages(Self.chunk)
    }

    deinit {
        _ = unsafe munmap(needles.baseAddress, needles.count)
        _ = unsafe munmap(buffer.baseAddress, buffer.count)
    }

    private static func pages(_ count: Int) throws -> UnsafeMutableRawBufferPointer {
        let address = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard unsafe address != MAP_FAILED else { throw Failure(what: "pages") }
        return unsafe UnsafeMutableRawBufferPointer(start: address, count: count)
    }

    /// Remembers a secret.
    package func look(for name: String, _ secret: SecretBytes) {
        unsafe secret.withUnsafeBytes { bytes in unsafe add(name, bytes.count) { unsafe $0.copyMemory(from: bytes) } }
    }

    /// Remembers a secret as the text in which SQLCipher takes it, and in small letters.
    package func lookForHexadecimal(of name: String, _ secret: SecretBytes) {
        for (offset, kind) in [(UInt8(ascii: "A"), "capital"), (UInt8(ascii: "a"), "small")] {
            unsafe secret.withUnsafeBytes { bytes in
                unsafe add("\(name) in \(kind) digits", 2 * bytes.count) { text in
                    for index in 0..<(2 * bytes.count) {
                        let digit = unsafe index % 2 == 0 ? bytes[index / 2] >> 4 : bytes[index / 2] & 15
                        unsafe text[index] = digit < 10 ? digit + 48 : digit - 10 + offset
                    }
                }
            }
        }
    }

    private func add(_ name: String, _ count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
        let start = names.last?.range.upperBound ?? 0
        precondition(start + count <= Self.capacity)
        names.append((name, start..<(start + count)))
        unsafe write(UnsafeMutableRawBufferPointer(rebasing: needles[start..<(start + count)]))
    }

    /// Where which secret lies: its name and that of the mapping.
    package func findings() throws -> [String] {
        let memory = unsafe open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        guard memory >= 0 else { throw Failure(what: "/proc/self/mem") }
        defer { close(memory) }
        var found: [String] = []
        for mapping in try Self.mappings() {
            var start = mapping.start
            while start < mapping.end {
                let count = unsafe pread(memory, buffer.baseAddress, min(Self.chunk, mapping.end - start), off_t(start))
                // A mapping that cannot be read, such as the kernel's own, or that has just gone.
                guard count > 0 else { break }
                for (name, range) in names {
                    for offset in unsafe offsets(of: range, in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                        let address = start + offset
                        if unsafe needles.isAround(address) || buffer.isAround(address) { continue }
                        found.append("\(name) at \(String(address, radix: 16)) in \(mapping.name)")
                    }
                }
                // The next chunk begins before the end of this one: a secret may lie across it.
                start += count < Self.chunk ? count : count - 256
            }
        }
        unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
        return found
    }

    private func offsets(of needle: Range<Int>, in bytes: UnsafeRawBufferPointer) -> [Int] {
        var (offsets, from) = ([Int](), 0)
        while from < bytes.count {
            let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[from...])
            let hit = unsafe search(
                rest.baseAddress,
                rest.count,
                needles.baseAddress.map { unsafe UnsafeRawPointer($0) + needle.lowerBound },
                needle.count
            )
            guard let hit = unsafe hit, let base = bytes.baseAddress else { break }
            let offset = unsafe UnsafeRawPointer(hit) - base
            offsets.append(offset)
            from = offset + 1
        }
        return offsets
    }

    private struct Mapping {
        let start: Int
        let end: Int
        let name: String
    }

    private static func mappings() throws -> [Mapping] {
        guard let handle = FileHandle(forReadingAtPath: "/proc/self/maps") else {
            throw Failure(what: "/proc/self/maps")
        }
        let text = try String(decoding: handle.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n")
            .compactMap { line in
                let fields = line.split(separator: " ", maxSplits: 5)
                let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
                guard ends.count == 2, fields[1].hasPrefix("r") else { return nil }
                let name = fields.count > 5 ? fields[5].trimmingCharacters(in: .whitespaces) : "unnamed memory"
                return Mapping(start: ends[0], end: ends[1], name: name)
            }
    }
}

extension UnsafeMutableRawBufferPointer {
    fileprivate func isAround(_ address: Int) -> Bool {
        let start = Int(bitPattern: baseAddress)
        return (start..<(start + count)).contains(address)
    }
}
#endif
