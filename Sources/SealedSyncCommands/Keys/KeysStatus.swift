internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `keys status`
struct KeysStatus: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what opens a store, and how old its keys are.",
        discussion: """
            No secret is needed, so what is said is only as trustworthy as the file: opening the store proves it. A data \
            key should be rotated after two years, a slot be made anew after one. A slot is named to 'revoke' and 'remove' by \
            its number or its id; the id stays its own when slots before it go. With --json all of the id is given.
            """
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let file = try await KeyslotFile.read(at: options.keyslots().url)
        let report = KeyAgePolicy.standard.report(on: file)
        if json { return try Console.write(json: Answer(file, report)) }
        let days = Int(report.dataKeyAge / (24 * 60 * 60))
        Console.write("store     \(file.storeID)")
        Console.write("written   \(countText(Int(clamping: file.revision), "time"))")
        Console.write(
            "data key  \(countText(days, "day")) old; rotation is \(report.isDataKeyRotationDue ? "" : "not ")due"
        )
        if file.isRotationOverdue {
            Console.write(
                "          due since a revocation or rotation was interrupted: 'keys rotate --data-key-only' ends it"
            )
        }
        if file.isRotationPending {
            Console.write("          a rotation was interrupted; the next opening ends it")
        }
        var table = TextTable(["slot", "id", "kind", "made", "cost", "label"], flexible: 5)
        for (index, slot) in file.slots.enumerated() {
            let isDue = report.slotsDue.contains { $0.id == slot.id }
            let made = "\(slot.created.formatted(.iso8601).prefix(10))\(isDue ? ", due" : "")"
            table.add(["\(index + 1)", slot.shortID, "\(slot.kind)", made, Self.cost(of: slot), slot.label])
        }
        Console.write("")
        for line in table.lines { Console.write(line) }
    }

    private static func cost(of slot: Keyslot) -> String {
        do {
            guard slot.kind == .passphrase else { return "" }
            let cost = try ScryptSlotParameters(decoding: slot.parameters).cost
            return "N=2^\(cost.log2N) r=\(cost.blockSize) p=\(cost.parallelization)"
        } catch {
            // Opening the slot says what is wrong with it.
            return "?"
        }
    }

    private struct Answer: Encodable {
        var store: String
        var revision: UInt64
        var dataKeyCreated: String
        var rotationDue: Bool
        var rotationPending: Bool
        /// A rotation that was to shut somebody out was interrupted: the data key may be in other hands.
        var rotationOverdue: Bool
        var slots: [SlotAnswer]
        var slotsDue: [Int]

        init(_ file: KeyslotFile, _ report: KeyAgeReport) {
            store = "\(file.storeID)"
            revision = file.revision
            dataKeyCreated = file.dataKeyCreated.formatted(.iso8601)
            rotationDue = report.isDataKeyRotationDue
            rotationPending = file.isRotationPending
            rotationOverdue = file.isRotationOverdue
            slots = file.slots.enumerated().map { SlotAnswer($1, number: $0 + 1) }
            slotsDue = slots.indices.filter { index in report.slotsDue.contains { $0.id == file.slots[index].id } }
                .map { $0 + 1 }
        }
    }
}
