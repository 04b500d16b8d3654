/// What this system says of the network.
package typealias SystemReachability = UnknownReachability
