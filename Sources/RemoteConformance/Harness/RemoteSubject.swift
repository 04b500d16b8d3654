public import ConformanceRunner
internal import RemoteContract

/// A remote as the rules see it.
public struct RemoteSubject: ConformanceSubject {
    /// What reports call the remote.
    public let name: String

    let harness: any RemoteHarness

    /// The remote behind a harness.
    public init(_ harness: any RemoteHarness) {
        name = harness.name
        self.harness = harness
    }

    /// What the harness and a remote made for the purpose declare: `tombstones` where the back end keeps deleted rows,
    /// `batches` where it takes more than one operation at a time, `createdAt` where values of that column go back with
    /// their rows, `steps` where bringing a row back takes several requests.
    public func capabilities() async throws -> Set<String> {
        var capabilities: Set<String> = harness.keepsDeletedRows ? [Self.tombstones] : []
        let world = try await harness.makeWorld(.items)
        do {
            let remote = try await world.makeRemote()
            if remote.maximumBatchSize > 1 { capabilities.insert(Self.batches) }
            if remote.keepsCreatedAt { capabilities.insert(Self.createdAt) }
            if remote.restoresInSteps { capabilities.insert(Self.steps) }
        } catch {
            await world.close()
            throw error
        }
        await world.close()
        return capabilities
    }

    static let tombstones = "tombstones"
    static let batches = "batches"
    static let createdAt = "createdAt"
    static let steps = "steps"
}
