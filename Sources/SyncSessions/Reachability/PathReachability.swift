#if canImport(Network)
internal import Dispatch
internal import Network

/// What the system's monitor of network paths says.
package struct PathReachability: Reachability {
    package init() {}

    package func changes() -> AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            let monitor = NWPathMonitor()
            monitor.pathUpdateHandler = { continuation.yield($0.status == .satisfied) }
            continuation.onTermination = { _ in monitor.cancel() }
            monitor.start(queue: DispatchQueue(label: "SyncSessions.reachability"))
        }
    }
}
#endif
