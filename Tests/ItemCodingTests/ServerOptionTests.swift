import Foundation
import ItemCoding
import RemoteContract
import SyncContract
import Testing

@Suite("What an item type says about servers and other tables")
struct ServerOptionTests {
    struct Customer: Codable, Identifiable, Sendable {
        var id = ""
        var name: String
    }

    struct Invoice: Codable, Identifiable, Sendable {
        var id = ""
        var customerID: String
        var parent: String?
        var amount: Decimal
        var note: String?

        enum CodingKeys: String, CodingKey {
            case id, parent, amount, note
            case customerID = "customer"
        }
    }

    @Test("is declared by options")
    func options() throws {
        let table = try TableDefinition(
            Invoice.self,
            .wireName("bills"),
            .wireName("total", for: \.amount),
            .wireName("client", for: \.customerID),
            .local(\.note),
            .references(\.customerID, Customer.self, onDelete: .cascade),
            .references(\.parent, Invoice.self, onDelete: .nullify)
        )
        #expect(table.wireName == "bills" && table.name == "Invoice" && !table.isLocalOnly)
        let columns = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0) })
        #expect(
            columns.mapValues(\.wireName) == [
                "customer": "client", "parent": "parent", "amount": "total", "note": "note",
            ]
        )
        #expect(columns["customer"]?.references == "Customer" && columns["customer"]?.onDelete == .cascade)
        #expect(columns["parent"]?.references == "Invoice" && columns["parent"]?.onDelete == .nullify)
        #expect(columns["amount"]?.onDelete == .noAction && columns["note"]?.isLocal == true)
    }

    @Test("may be that there is no server, in a schema that is a literal")
    func literal() throws {
        let schema: StoreSchema = try [.init(Invoice.self), .init(Customer.self, .localOnly)]
        try schema.check()
        #expect(schema.tables.map(\.isLocalOnly) == [false, true])
        #expect(schema.tables[1].systemProperties == [] && schema.tables[1].columns.map(\.name) == ["name"])
        let wrong: StoreSchema = try [.init(Customer.self, .localOnly, .wireName("clients"))]
        #expect(throws: StoreError.self) { try wrong.check() }
    }

    struct Coupon: Codable, Identifiable, Sendable {
        var id = ""
        var title: String
        var photo: AttachmentID?
        var receipt: AttachmentID
        var note: AttachmentID?
    }

    @Test("columns that name files refer to them, or own them where that is said; each is looked up by an index")
    func attachments() throws {
        let table = try TableDefinition(Coupon.self, .owns(\.photo), .owns(\.receipt), .indexed(\.note, \.title))
        let rules = Dictionary(uniqueKeysWithValues: table.columns.map { ($0.name, $0.attachment) })
        #expect(rules == ["title": nil, "photo": .owns, "receipt": .owns, "note": .refers])
        #expect(table.columns.filter { $0.attachment != nil }.allSatisfy { $0.type == .string })
        #expect(table.indexes == [["note", "title"], ["photo"], ["receipt"]])
        #expect(try TableDefinition(Coupon.self).columns.compactMap(\.attachment) == [.refers, .refers, .refers])
    }

    @Test("owning what is no file, or no property of the row, is refused and named")
    func wrongOwner() throws {
        let error = #expect(throws: StoreError.self) { try TableDefinition(Coupon.self, .owns(\.title)) }
        #expect(error?.code == .invalidSchema && error?.message.contains("'title'") == true)
        #expect(throws: StoreError.self) { try TableDefinition(Coupon.self, .owns(\.title.count)) }
    }
}
