import SyncMachines

// What happens on a device.
extension Device {
    /// Does what an event says; nil when it cannot happen.
    mutating func handle(_ event: DeviceEvent) -> Consequence? {
        switch event.kind {
        case .update: update(event.content, seen: nil)
        case .delete: delete()
        case .insert: insert(event.content)
        case .discard: discard()
        case .keepMine: keepMine()
        case .keepMerged: keepMerged(event.content)
        case .deleteInstead: deleteInstead()
        case .takeServer: takeServer()
        case .undoDelete: undoDelete()
        case .retry: retry()
        case .openEditor: open()
        case .saveEditor: save(event.content)
        case .prepare: prepare()
        case .sendAgain: sendAgain()
        case .answered: answered(event.answer)
        case .record: record()
        case .noAnswer: end(with: .aborted(provesNothingWasDone: false))
        case .notDone: end(with: .aborted(provesNothingWasDone: true))
        case .failed: end(with: .failed)
        case .refused: end(with: .refused(provesNothingWasDone: true))
        case .refusedByGateway: end(with: .refused(provesNothingWasDone: false))
        case .wouldShow: end(with: .wouldShowTombstone)
        case .die: die()
        case .requestPage: request(event.row, isLookUp: false)
        case .lookUpRow: request(event.row, isLookUp: true)
        case .applyPage: applyPage()
        }
    }

    private mutating func open() -> Consequence? {
        guard editor == nil, var shown = row, shown.version != nil else { return nil }
        shown.history = known
        editor = shown
        return Consequence()
    }

    private mutating func save(_ content: ModelRow.Content) -> Consequence? {
        guard let opened = editor else { return nil }
        editor = nil
        return update(content, seen: opened)
    }
}
