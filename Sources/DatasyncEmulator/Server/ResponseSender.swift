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

    func send(_ source: ResponseSource, _ delivery: Delivery) throws(TransferFailure) -> Outcome {
        var source = source
        switch delivery {
        case .whole: try send(&source)
        case .cut(let count):
            try send(&source, atMost: count)
            return .cut
        case .reset(let count):
            try send(&source, atMost: count)
            waitForArrival()
            socket.reset()
            return .reset
        case .dribble(let byteCount, let pause):
            while !source.isAtEnd {
                try send(&source, atMost: byteCount)
                if !source.isAtEnd { stopSignal.wait(upTo: pause) }
            }
        case .stall(let count, let pause):
            try send(&source, atMost: count)
            stopSignal.wait(upTo: pause)
            try send(&source)
        }
        return .delivered
    }

    private func send(_ source: inout ResponseSource, atMost limit: Int = .max) throws(TransferFailure) {
        var left = limit
        while left > 0, !source.isAtEnd {
            let piece = try source.next(atMost: left)
            try stream.send(piece, limit: settings.sendLimit)
            left -= piece.count
        }
    }

    /// A reset takes back what has not arrived yet, so it waits for that. The system tells no other way.
    private func waitForArrival() {
        let deadline = ContinuousClock.now + settings.sendLimit
        while !socket.hasArrived, deadline > .now { stopSignal.wait(upTo: .milliseconds(1)) }
    }
}
