#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension FileDescriptor {
    /// Opens a file for reading.
    init(reading path: String) throws { try self.init(path, O_RDONLY) }

    /// Reads from an offset on until the buffer is full or the file ends, and returns how many bytes were read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemCallFailure) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let step = unsafe pread(number, rest.baseAddress, rest.count, off_t(offset + filled))
            if step < 0, errno == EINTR { continue }
            guard step >= 0 else { throw SystemCallFailure("read") }
            if step == 0 { break }
            filled += step
        }
        return filled
    }
}
