/// The durable steps of work that makes a new database, a first one or a copy, in order. Between any two of them the
/// process may end.
package enum MaintenanceStep: Int, Sendable, CaseIterable {
    /// A store that is being replaced has no log any more.
    case emptiedLog
    /// The new file is there under its temporary name, empty.
    case created
    /// It holds everything that it is to begin with.
    case copied
    /// It is on the disk.
    case synchronized
    /// It was read back.
    case verified
    /// It has its name.
    case named
    /// Its name is on the disk.
    case finished
}

extension MaintenanceStep: Comparable {
    package static func < (left: MaintenanceStep, right: MaintenanceStep) -> Bool { left.rawValue < right.rawValue }
}
