/// One step of the world.
enum Step: Hashable {
    /// A device does something by itself.
    case local(Side, DeviceEvent)
    /// A request arrives, and its answer is on the way.
    case arrives(Side)
    /// Something goes wrong with a request.
    case fault(Side, Fault)
    /// One that nobody waits for arrives.
    case lateArrives(Int)
    /// A third party changes an undeclared column.
    case touched
    /// A third party deletes the row.
    case removed
}

/// What can go wrong.
enum Fault: UInt8, CaseIterable {
    /// The request never arrives, and there is no answer.
    case lost
    /// There is no answer, and the request may arrive at any time.
    case late
    /// There is no answer, and it is known that nothing was done: 401, 429, no connection.
    case notDone
    /// 500, and nothing was done.
    case failed
    /// The service refuses it: 400, 422.
    case refused
    /// Something before the service refuses it: 403, 413.
    case refusedByGateway
    /// The same, and a copy of the request may arrive at any time.
    case refusedByGatewayAndLate
    /// It is carried out, and a copy may arrive at any time.
    case twice
    /// It is carried out, and a copy is what gets the answer.
    case again
    /// The device dies before it is sent.
    case diesBefore
    /// The device dies, and the request may arrive at any time.
    case diesAndLate
    /// It is carried out, and the answer says no more than that.
    case answeredWithoutRow
    /// It is carried out, and the answer shows the row without its version.
    case answeredWithoutVersion
    /// It was carried out, and the answer is lost.
    case answerLost
    /// It was carried out, and the answer is 500.
    case failedAfter
    /// It was carried out, and the device dies before the answer is recorded.
    case diesAfter
    /// A tombstone is shown as it was, and what was to write it is lost.
    case shownOnly
    /// The same, and what was to write it is refused.
    case shownAndRefused
    /// The same, and what was to write it may arrive at any time.
    case shownAndLate
    /// The same, and the device dies in between.
    case shownAndDies
    /// The device dies while nothing is under way but reading.
    case dies

    /// Whether a tombstone was shown as it was before.
    var isAfterShowing: Bool {
        switch self {
        case .shownOnly, .shownAndRefused, .shownAndLate, .shownAndDies: true
        default: false
        }
    }

    /// Whether a copy may arrive at any time.
    var isLate: Bool {
        switch self {
        case .late, .refusedByGatewayAndLate, .twice, .diesAndLate: true
        default: false
        }
    }
}
