#if canImport(Network)
/// What this system says of the network.
package typealias SystemReachability = PathReachability
#elseif os(Linux)
/// What this system says of the network.
package typealias SystemReachability = NetlinkReachability
#else
/// What this system says of the network.
package typealias SystemReachability = UnknownReachability
#endif
