import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

@testable import SyncSessions

@Suite("The progress of a session")
struct ProgressTests {
    let emulator = SessionDevice.emulator()

    private func values(_ stream: AsyncStream<SyncProgress>) async -> [SyncProgress] {
        var values: [SyncProgress] = []
        for await value in stream { values.append(value) }
        return values
    }

    private func isMonotonic(_ values: [SyncProgress]) -> Bool {
        zip(values, values.dropFirst()).allSatisfy { $0.progressEstimate <= $1.progressEstimate }
    }

    @Test("of what is to be sent now counts exactly, never falls and ends at 1")
    func upload() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        for number in 0..<20 { try await device.add("\(number)") }
        device.line.set(.held)
        let progress = device.session.progress(for: .upload, mode: .forCurrentlyOutstandingWork)
        var iterator = progress.makeAsyncIterator()
        let first = try #require(await iterator.next())
        #expect(first == SyncProgress(estimate: 0, completed: 0, total: 20, isExact: true))
        // What comes later is not counted.
        try await device.add("late")
        device.line.set(.answered)
        var values = [first]
        while let value = await iterator.next() { values.append(value) }
        #expect(isMonotonic(values))
        #expect(values.last == SyncProgress(estimate: 1, completed: 20, total: 20, isExact: true))
        #expect(values.dropLast().allSatisfy { !$0.isTransferComplete && $0.total == 20 })
        await device.session.close()
    }

    @Test("of what there is to bring never falls and ends at 1, in one direction and in both")
    func download() async throws {
        let other = try SessionDevice(emulator)
        for number in 0..<120 { try await other.add("\(number)") }
        _ = try await other.context.push()
        let device = try SessionDevice(emulator)
        let pull = SessionPull(device.table, options: PullOptions(pageSize: 10))
        device.session.start(keeping: [pull])
        let values = await values(device.session.progress(for: .download, mode: .forCurrentlyOutstandingWork))
        #expect(isMonotonic(values))
        #expect(values.last?.isTransferComplete == true)
        let counted = values.filter { $0.completed > 0 }
        // Rows at the edges of pages may come twice, and are counted so.
        #expect(counted.allSatisfy { $0.isExact && $0.total >= 120 }, "the server counts: \(counted)")
        #expect(try await device.context.status().pending == 0)
        try await device.add("mine")
        let both = await self.values(device.session.progress(for: .both, mode: .forCurrentlyOutstandingWork))
        #expect(isMonotonic(both) && both.last?.isTransferComplete == true)
        #expect(emulator.texts().contains("mine"))
        await device.session.close()
    }

    @Test("with nothing to do is 1 at once, and sends nothing for an upload")
    func nothing() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        let before = device.line.requests.count
        let values = await values(device.session.progress(for: .upload, mode: .forCurrentlyOutstandingWork))
        #expect(values.last?.progressEstimate == 1)
        #expect(device.line.requests.count == before)
        await device.session.close()
    }

    @Test("ends before 1 when the session is not started, is suspended, or ends")
    func ends() async throws {
        let device = try SessionDevice(emulator)
        try await device.add("milk")
        let unstarted = await values(device.session.progress(for: .upload, mode: .forCurrentlyOutstandingWork))
        #expect(unstarted.allSatisfy { !$0.isTransferComplete })
        device.line.set(.held)
        device.session.start(keeping: [device.table])
        let progress = device.session.progress(for: .upload, mode: .forCurrentlyOutstandingWork)
        let indefinite = device.session.progress(for: .both, mode: .reportIndefinitely)
        await device.line.requestsReach(1)
        device.session.suspend()
        #expect(await values(progress).allSatisfy { !$0.isTransferComplete })
        await device.session.close()
        #expect(await values(indefinite).allSatisfy { !$0.isTransferComplete })
    }

    @Test("of whatever comes goes on, falls when more comes, and is 1 when nothing is left")
    func indefinite() async throws {
        let device = try SessionDevice(emulator)
        device.session.start(keeping: [device.table])
        try await device.session.wait(for: .download)
        var progress = device.session.progress(for: .upload, mode: .reportIndefinitely).makeAsyncIterator()
        for round in 0..<3 {
            while let value = await progress.next() { if value.isTransferComplete { break } }
            try await device.add("\(round)")
            while let value = await progress.next() { if !value.isTransferComplete { break } }
            try await device.session.wait(for: .upload)
        }
        while let value = await progress.next() { if value.isTransferComplete { break } }
        await device.session.close()
        while await progress.next() != nil {}
    }
}
