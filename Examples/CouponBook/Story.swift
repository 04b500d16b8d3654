import Foundation
import SealedSync

/// The whole story of the book, told on a terminal: `coupon-book ADDRESS`, with the passphrase as the first line of the input.
/// It begins without a network if there is none, and waits for it.
@main struct Story {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: coupon-book ADDRESS")
            exit(64)
        }
        do {
            try await tell(CouponBook(readLine() ?? "", CommandLine.arguments[1]))
        } catch {
            print("The story ends here:", error)
            exit(1)
        }
    }

    private static func tell(_ book: CouponBook) async throws {
        let story = Story(book: book)
        try await story.withoutNetwork()
        try await story.networkComesBack()
        try await story.refusals()
        try await story.deletedAndNotSent()
        try await story.pruned()
        await book.context.close()
    }

    let book: CouponBook

    /// Everything works, and everything waits.
    func withoutNetwork() async throws {
        book.context.session.suspend()
        let photo = URL.temporaryDirectory.appending(path: "card-\(UUID().uuidString).jpg")
        try Data(repeating: 0xFF, count: 100_000).write(to: photo)
        let card = try await book.add("Пятёрочка −5 %", brand: "Пятёрочка", owner: "Катя", photo: photo)
        // It was taken in, encrypted.
        try FileManager.default.removeItem(at: photo)
        try await showPhoto(of: card)
        try await book.add("ёлки и игрушки", brand: "Детский мир", owner: "Павел")
        try await book.add(
            "Аптека на углу",
            brand: "Аптека",
            owner: "Катя",
            expires: Day(year: 2020, month: 1, day: 31)
        )
        try await book.add("Чужая карта", brand: "Аптека", owner: "Некто")
        try await book.add("Спорная карта", brand: "аптека", owner: "Катя")
        try await book.toggleFavourite(card)
        // Made and deleted before anybody saw it: nothing is sent.
        let mistake = try await book.add("Опечатка", brand: "Аптека", owner: "Катя")
        try await book.coupons.delete(mistake.id)
        print("shops:", try await book.brands.ordered(by: \.name.folded).read().map(\.name).joined(separator: ", "))
        try await show("without a network")
        print("ПЯТЕР:", try await book.search("ПЯТЕР").map(\.title).joined(separator: ", "))
        print("катя:", try await book.search("катя").map(\.title).joined(separator: ", "))
    }

    /// What waits is sent by itself; ids of the server's come beside those that were there.
    func networkComesBack() async throws {
        let card = try await book.coupons.where { $0.title.folded == "ЁЛКИ И ИГРУШКИ" }.first()
        guard let card else { return print("the card is gone") }
        print("an id of the server's:", try await book.coupons.serverID(of: card.id) ?? "not yet")
        book.context.session.resume()
        print("waiting for the network")
        // Whoever reads this through a pipe is to see it now.
        fflush(nil)
        try await book.context.session.wait(for: .both)
        print("the same card:", try await book.coupons.read(card.id)?.title ?? "gone")
        print("an id of the server's:", try await book.coupons.serverID(of: card.id) == nil ? "not yet" : "known")
        try await show("in step")
        try await book.context.attachments.settle()
        if let card = try await book.all.first() { try await showPhoto(of: card) }
    }

    /// Changes that the server did not take are kept apart until the user says what becomes of them.
    func refusals() async throws {
        try await book.settleRefusals { card, reason in
            let keeps = card.owner == "Катя"
            print(card.title, "was refused and is", keeps ? "kept:" : "given up:", reason)
            return keeps
        }
        try await book.context.session.wait(for: .upload)
        try await show("settled")
    }

    /// A card that was deleted is gone from the lists at once, and can come back until the deletion is sent, and after.
    func deletedAndNotSent() async throws {
        guard let card = try await book.all.first() else { return print("there is no card") }
        book.context.session.suspend()
        // Edited, and thought better of.
        try await book.coupons.update(card.id) { $0.title += " навсегда" }
        try await book.coupons.revert(card.id)
        try await book.coupons.delete(card.id)
        let deleted = try await book.coupons.deletedItems().map(\.title).joined(separator: ", ")
        print("deleted:", deleted, "and waiting:", try await waiting())
        try await book.coupons.undoDelete(card.id)
        print("there again:", try await book.coupons.read(card.id)?.title ?? "no", "and waiting:", try await waiting())
        book.context.session.resume()
    }

    /// Step by step, as a screen for it would: send, fetch, and take off this device what nobody needs here.
    func pruned() async throws {
        let sent = try await book.context.push()
        print("sent:", sent.pushed, "not taken:", sent.notTaken.count)
        try await book.coupons.pull()
        try await book.coupons.where { $0.expires < Day(year: 2026, month: 1, day: 1) }.purge()
        try await book.coupons.pull()
        try await show("pruned")
    }

    private func showPhoto(of card: Coupon) async throws {
        guard let photo = card.photo else { return print("no photo") }
        let size = try await book.context.attachments.data(of: photo).count
        print("its photo:", size, "bytes,", try await book.context.attachments.state(of: photo))
    }

    private func waiting() async throws -> Int { try await book.context.status().pending }

    private func show(_ title: String) async throws {
        print("-- \(title)")
        for card in try await book.all.read() { print(card.isFavourite ? "★" : " ", card.title, card.syncState) }
    }
}
