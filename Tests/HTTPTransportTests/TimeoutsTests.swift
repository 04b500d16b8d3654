import HTTPTransport
import Testing

@Suite("Timeouts as one value")
struct TimeoutsTests {
    @Test("are those of the transport's options, one by one, and start with the same defaults")
    func options() {
        var options = TransportOptions()
        #expect(options.timeouts == TransportTimeouts())
        options.timeouts = TransportTimeouts(connect: .seconds(1), request: .seconds(2), idle: .seconds(3))
        #expect(options.connectTimeout == .seconds(1))
        #expect(options.timeout == .seconds(2))
        #expect(options.stallTimeout == .seconds(3))
    }
}
