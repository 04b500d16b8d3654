/// Hands the bytes of an answer over, whole or as a fault says.
struct ResponseSender {
    enum Outcome {
        case delivered
        /// The connection is to be closed where it stands.
        case cut
        /// The connection was reset.
        case reset
    }

    let stream: any ByteStream
    let socket: Socket
    let settings: ServerSettings
    let stopSignal: StopSignal

    func send(_ bytes: [UInt8], _ delivery: Delivery) throws(TransferFailure) -> Outcome {
        switch delivery {
        case .whole: try send(bytes[...])
        case .cut(let count):
            try send(bytes.prefix(count))
            return .cut
        case .reset(let count):
            try send(bytes.prefix(count))
            waitForArrival()
            socket.reset()
            return .reset
        case .dribble(let byteCount, let pause):
            var rest = bytes[...]
            while !rest.isEmpty {
                try send(rest.prefix(byteCount))
                rest = rest.dropFirst(byteCount)
                if !rest.isEmpty { stopSignal.wait(upTo: pause) }
            }
        case .stall(let count, let pause):
            try send(bytes.prefix(count))
            stopSignal.wait(upTo: pause)
            try send(bytes.dropFirst(count))
        }
        return .delivered
    }

    private func send(_ bytes: ArraySlice<UInt8>) throws(TransferFailure) {
        try stream.send(bytes, limit: settings.sendLimit)
    }

    /// A reset takes back what has not arrived yet, so it waits for that. The system tells no other way.
    private func waitForArrival() {
        let deadline = ContinuousClock.now + settings.sendLimit
        while !socket.hasArrived, deadline > .now { stopSignal.wait(upTo: .milliseconds(1)) }
    }
}
