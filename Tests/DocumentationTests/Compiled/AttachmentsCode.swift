import Foundation
import SealedSync

// The code of the article "Photos and other files", word for word.

private enum Photos {
    struct Coupon: SyncItem {
        var id = UUID()
        var title: String
        var photo: AttachmentID?
    }

    func open(_ secret: SecretBytes) async throws -> SyncContext {
        try await SyncContext.open(
            .named("coupons"),
            schema: [.init(Coupon.self, .owns(\.photo))],
            unlocker: .passphrase(secret),
            remote: .datasync("https://coupons.example.org"),
            options: SyncOptions(attachments: AttachmentOptions(path: "photos"))
        )
    }

    func options() -> AttachmentOptions {
        AttachmentOptions(path: "photos", ahead: [.column(\Coupon.photo) { $0.title == "Bakery" }])
    }

    func add(_ title: String, photo: URL, to context: SyncContext) async throws {
        let photo = try await context.attachments.add(contentsOf: photo)
        try await context.table(Coupon.self).insert(Coupon(title: title, photo: photo))
    }

    func show(_ photo: AttachmentID, of context: SyncContext) async throws {
        for await state in context.attachments.observe(photo) {
            guard state == .synced || state == .pending else { continue }
            print(try await context.attachments.data(of: photo).count, "bytes")
        }
    }
}
