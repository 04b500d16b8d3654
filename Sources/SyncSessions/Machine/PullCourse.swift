/// In which order a sync within a time makes its pulls, and which one the next sync begins with when the time is over.
///
/// What precedes the push is made first, then the push, then the others. A pull that goes on where it was needs nothing of this;
/// one that begins anew each time, and is cut, would keep others from ever being made, or never be made itself.
struct PullCourse: Sendable {
    /// Those that precede the push.
    let preceding: [Int]
    /// Those that do not.
    let others: [Int]
    /// Whether these are made first, without a push: one that precedes it has taken all the time, or has left too little for one
    /// of them.
    let beginsWithOthers: Bool

    /// Whether what precedes the push has left the others less than half of the time.
    var leavesLittleTime = false
    private let first: Int
    private var begun = 0

    /// The course of a sync.
    ///
    /// - Parameters:
    ///   - count: How many pulls there are; fewer than before, it may be.
    ///   - beginning: The number of the first one, or what ``beginning(behind:)`` has said.
    ///   - precedesPush: Whether one precedes the push.
    init(of count: Int, from beginning: Int, precedesPush: (Int) -> Bool) {
        beginsWithOthers = beginning < 0
        first = min(beginsWithOthers ? -1 - beginning : beginning, count)
        let all = Array(first..<count) + Array(0..<first)
        preceding = all.filter(precedesPush)
        others = all.filter { !precedesPush($0) }
    }

    /// Whether nothing is pulled.
    var isEmpty: Bool { preceding.isEmpty && others.isEmpty }

    /// Takes note that a pull begins.
    mutating func begins() { begun += 1 }

    /// What the next sync begins with, when the time was over in the pull that was begun last. Had it all the time, it is passed
    /// over; what others have left too little has it first.
    func beginning(behind index: Int) -> Int {
        switch (preceding.contains(index), begun == 1) {
        // Where the others were to begin they begin, whatever is made in front of them.
        case (true, true): Self.withOthers(others.contains(first) ? first : index + 1)
        case (true, false): index
        case (false, true): index + 1
        case (false, false): leavesLittleTime ? Self.withOthers(index) : index
        }
    }

    private static func withOthers(_ index: Int) -> Int { -1 - index }
}
