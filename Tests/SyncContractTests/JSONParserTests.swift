import Testing

@testable import SyncContract
