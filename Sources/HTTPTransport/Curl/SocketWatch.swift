#if !canImport(Darwin)
internal import CCurl

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The sockets that libcurl wants watched, and the time at which it wants to be called.
///
/// libcurl's own way to wait (`curl_multi_poll`, `curl_multi_perform`) looks at every transfer each time; told which
/// socket is ready, it looks at one.
@safe
final class SocketWatch {
    private struct Place {
        var position: Int
        var owner: Int?
    }

    /// One socket, or the thread's own descriptor, which is the first.
    private var entries: [pollfd]
    /// Where a socket is in the entries, and the number of the transfer that it works for.
    private var places: [curl_socket_t: Place] = [:]
    /// When libcurl wants to be called without a socket; nil while it does not.
    private var alarm: ContinuousClock.Instant?
    private var ready: [(socket: curl_socket_t, events: Int32)] = []
    /// The time at which the loop last woke up.
    private(set) var now = ContinuousClock.now

    init(waking descriptor: Int32) { entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)] }

    /// Lets a multi handle tell what to watch; the watch has to outlive it.
    @unsafe
    func attach(to multi: OpaquePointer) -> Bool {
        let code = unsafe ccurl_multi_set_watch(
            multi,
            { owner, socket, what, context, _ in
                guard let context = unsafe context else { return 0 }
                let watch = unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue()
                let number = unsafe owner.flatMap { unsafe EasyHandle.object(of: $0)?.transfer?.number }
                watch.watch(socket, what, for: number)
                return 0
            },
            { _, milliseconds, context in
                guard let context = unsafe context else { return 0 }
                let watch = unsafe Unmanaged<SocketWatch>.fromOpaque(context).takeUnretainedValue()
                watch.alarm = milliseconds < 0 ? nil : watch.now + .milliseconds(milliseconds)
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        return code == CURLM_OK
    }

    private func watch(_ socket: curl_socket_t, _ what: Int32, for owner: Int?) {
        guard what != CURL_POLL_REMOVE else { return remove(socket) }
        let events = Int16((what & CURL_POLL_IN != 0 ? POLLIN : 0) | (what & CURL_POLL_OUT != 0 ? POLLOUT : 0))
        if let position = places[socket]?.position {
            entries[position].events = events
            places[socket]?.owner = owner
        } else {
            places[socket] = Place(position: entries.count, owner: owner)
            entries.append(pollfd(fd: socket, events: events, revents: 0))
        }
    }

    private func remove(_ socket: curl_socket_t) {
        guard let position = places.removeValue(forKey: socket)?.position else { return }
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        places[last.fd]?.position = position
    }

    /// The number of the transfer that a socket works for; nil when it works for none.
    func owner(of socket: curl_socket_t) -> Int? { places[socket]?.owner }

    /// Whether the time has come at which libcurl wants to be called; it sets a new one when it is.
    func takeAlarm() -> Bool {
        guard let alarm, alarm <= now else { return false }
        self.alarm = nil
        return true
    }

    /// Waits for sockets, an order or the alarm, and no longer than until a time.
    ///
    /// - Returns: The sockets that are ready, and for what.
    func wait(until limit: ContinuousClock.Instant?) -> [(socket: curl_socket_t, events: Int32)] {
        ready.removeAll(keepingCapacity: true)
        let milliseconds = milliseconds(until: alarm, limit)
        let count = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
        now = .now
        guard count > 0 else { return ready }
        if entries[0].revents != 0 {
            var wakes: eventfd_t = 0
            _ = unsafe eventfd_read(entries[0].fd, &wakes)
        }
        for entry in entries.dropFirst() where entry.revents != 0 {
            let found = Int32(entry.revents)
            let events =
                (found & POLLIN != 0 ? CURL_CSELECT_IN : 0) | (found & POLLOUT != 0 ? CURL_CSELECT_OUT : 0)
                | (found & (POLLERR | POLLHUP | POLLNVAL) != 0 ? CURL_CSELECT_ERR : 0)
            ready.append((entry.fd, events))
        }
        return ready
    }

    /// The time to the earlier of two instants, rounded up; -1, for ever, when there is neither.
    private func milliseconds(until first: ContinuousClock.Instant?, _ second: ContinuousClock.Instant?) -> Int32 {
        guard let limit = first.map({ min($0, second ?? $0) }) ?? second else { return -1 }
        let left = limit - now
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return seconds >= 3_600 ? 3_600_000 : Int32(seconds) * 1_000 + Int32(attoseconds / 1_000_000_000_000_000) + 1
    }
}
#endif
