import Foundation
import OfflineSync
import SyncContract
import Synchronization
import Testing

@testable import Attachments

/// Waits for files where a push waits for it.
private final class Settler: SyncContextDelegate {
    private let place: WithinPushTests.Place
    /// What became of each wait; nil for one that has come to its end.
    let codes = Mutex<[SyncError.Code?]>([])

    init(_ place: WithinPushTests.Place) { self.place = place }

    func settle(_ context: SyncContext, in place: WithinPushTests.Place) async {
        guard place == self.place else { return }
        do {
            try await context.attachments.settle()
            codes.withLock { $0.append(nil) }
        } catch {
            codes.withLock { $0.append((error as? SyncError)?.code) }
        }
    }

    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {
        await settle(context, in: .willSend)
    }

    func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? {
        await settle(context, in: .resolve)
        return nil
    }
}

@Suite("A wait for files within a push", .timeLimit(.minutes(1)))
struct WithinPushTests {
    /// Who waits.
    enum Place: CaseIterable, Sendable { case willSend, resolve, policy }

    @Test("is refused: the two would wait for each other", arguments: Place.allCases)
    func settle(place: Place) async throws {
        let device = try await PhotoDevice()
        let other = try await device.coupons.insert(Coupon(title: "before"))
        _ = try await device.context.push()
        try device.rows.change([other.id.uuidString], to: ["title": "theirs"])
        let (_, id) = try await device.add([1])
        try await device.coupons.update(other.id) { $0.title = "mine" }
        let settler = Settler(place)
        device.context.delegate = settler
        let context = device.context
        device.context.conflictPolicy = .merge { [weak context] _ in
            if let context { await settler.settle(context, in: .policy) }
            return nil
        }
        #expect(try await device.context.push().pushed == 1)
        let codes = settler.codes.withLock { $0 }
        #expect(!codes.isEmpty && codes.allSatisfy { $0 == .invalidAction })
        #expect(try await device.context.operationErrors().count == 1)
        try await device.attachments.settle()
        #expect(device.server[id]?.isComplete == true)
        withExtendedLifetime(settler) {}
        await device.close()
    }
}
