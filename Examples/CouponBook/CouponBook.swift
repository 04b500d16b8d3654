import Foundation
import SealedSync

struct Brand: SyncItem {
    var id = UUID()
    var name: String
}

struct Coupon: SyncItem {
    var id = UUID()  // stays for ever; the server's own id is kept by the engine
    var title: String
    var owner: String
    var brandID: UUID?
    var photo: AttachmentID?  // a file beside the card, here and on the server
    var expires: Day?
    var isFavourite = false  // on this device only
    var syncState = SyncState.synced  // neither sent nor stored: where the card stands
}

struct RecentSearch: SyncItem {
    var id = UUID()
    var text: String
}

/// The discount cards that colleagues share: with or without a network, encrypted on the device.
struct CouponBook {
    let context: SyncContext
    let coupons: SyncTable<Coupon>
    let brands: SyncTable<Brand>
    let searches: SyncTable<RecentSearch>

    init(_ passphrase: String, _ address: String) async throws {
        context = try await SyncContext.open(
            .named("org.example.coupons"),
            schema: [
                .init(Brand.self, .assignsIDs, .searchable(\.name)),
                .init(
                    Coupon.self,
                    .assignsIDs,
                    .local(\.isFavourite),
                    .searchable(\.title, \.owner),
                    .owns(\.photo),
                    .references(\.brandID, Brand.self, onDelete: .nullify)
                ),
                .init(RecentSearch.self, .localOnly),
            ],
            unlocker: .passphrase(SecretBytes(passphrase)),
            remote: .datasync(address),
            // Fetch what is true now, drop what has become pointless, send the rest.
            options: SyncOptions(order: .pullFirst, attachments: AttachmentOptions())
        )
        coupons = try context.table(Coupon.self)
        brands = try context.table(Brand.self)
        searches = try context.table(RecentSearch.self)
        // The last writer wins, but an edit of a card that was deleted on the server is dropped.
        context.conflictPolicy = .merge { $0.isDeletedOnServer ? .takeServer : .keepMine }
        // Sync when the network comes back, and when something was changed; no request when there is nothing to do.
        context.session.start(options: SessionOptions(backoff: Backoff(longest: .seconds(30))))
    }

    // MARK: The lists

    /// Favourites first, then as people sort.
    var all: TableQuery<SyncTable<Coupon>> {
        coupons.ordered(by: \.isFavourite, .descending).ordered(by: \.title.folded)
    }

    /// The cards by the shop's, the card's or the owner's name, by beginnings of words in any case and script.
    func search(_ text: String) async throws -> [Coupon] {
        try await searches.insert(RecentSearch(text: text))
        let shops = try await brands.where { $0.name.matches(words: text) }.read().map(\.id)
        return
            try await all.where {
                $0.title.matches(words: text) || $0.owner.matches(words: text) || $0.brandID.isAny(of: shops)
            }
            .read()
    }

    // MARK: Changes, with or without a network

    /// A card and, when it is new, its shop: all or nothing. The photo follows when the card is there.
    @discardableResult
    func add(_ title: String, brand name: String, owner: String, photo: URL? = nil, expires: Day? = nil) async throws
        -> Coupon
    {
        var file: AttachmentID?
        if let photo { file = try await context.attachments.add(contentsOf: photo) }
        return try await context.write { [brands, coupons, file] tx in
            let known = brands.where { $0.name.folded == name }
            let brand = try tx.first(known) ?? tx.insert(Brand(name: name), into: brands)
            let card = Coupon(title: title, owner: owner, brandID: brand.id, photo: file, expires: expires)
            return try tx.insert(card, into: coupons)
        }
    }

    func toggleFavourite(_ card: Coupon) async throws {
        try await coupons.update(card.id) { $0.isFavourite.toggle() }
    }

    // MARK: What was not taken

    /// What the server has refused: the user keeps the card, and it is sent again, or gives it up.
    func settleRefusals(asking keeps: (Coupon, String) -> Bool) async throws {
        for error in try await coupons.operationErrors() where !error.isConflict {
            guard let card = error.item else { continue }
            try await context.resolve(error, with: keeps(card, error.message) ? .keepMine : .discard)
        }
    }
}
