import SecretMemory
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("Core dumps")
struct CoreDumpTests {
    @Test("are forbidden by one call, for the limit and for the process")
    func forbidden() async {
        await #expect(processExitsWith: .success) {
            #expect(!CoreDumps.areForbidden)
            try CoreDumps.forbid()
            #expect(CoreDumps.areForbidden)
            try CoreDumps.forbid()
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) != 0 || geteuid() == 0)
        }
    }

    #if os(Linux)
    @Test("leave the process's own descriptors readable by name, for those who are not the superuser too")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { #expect(setuid(65534) == 0) }
            try CoreDumps.forbid()
            var ends: [Int32] = [0, 0]
            #expect(unsafe pipe(&ends) == 0)
            #expect(unsafe open("/dev/fd/\(ends[0])", O_RDONLY) >= 0)
            #expect(unsafe open("/proc/self/mem", O_RDONLY) < 0)
        }
    }
    #endif
}
