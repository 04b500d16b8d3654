internal import RecordJSON
internal import SyncContract

/// Rows that are kept beside the store's rows, and are read with declarations that may have changed since: a column of
/// the server that was not declared then may be now, with a type that its value does not fit.
extension RecordCoding {
    /// The record of a JSON object, without the values that do not fit their columns, and whether that is all of it.
    ///
    /// - Throws: `RecordCodingError` when the node is not an object, or has no usable `id`.
    func fittingRecord(_ node: JSONNode) throws(RecordCodingError) -> (record: Record, isWhole: Bool) {
        let misfit: RecordCodingError
        do throws(RecordCodingError) {
            return (try record(node), true)
        } catch {
            misfit = error
        }
        guard case .object(let members, _) = node, let id = members.last(where: { $0.name == "id" }) else {
            throw misfit
        }
        var row = try record(id: id.value)
        for member in members where member.name != "id" {
            do throws(RecordCodingError) {
                row[member.name] = try record(id: id.value, member)[member.name]
            } catch {
                row[member.name] = nil
            }
        }
        return (row, false)
    }

    /// A row that the server has shown; nil for one of which only a part fits: it would be taken for all of it. A tombstone
    /// is one whatever it holds.
    func serverRow(_ node: JSONNode) throws(RecordCodingError) -> Record? {
        let (row, isWhole) = try fittingRecord(node)
        return isWhole || row.isDeleted ? row : nil
    }

    private func record(id: JSONNode, _ member: (name: String, value: JSONNode)? = nil) throws(RecordCodingError)
        -> Record
    {
        var json = JSONWriter()
        json.add("id", json: id.text)
        if let member { json.add(member.name, json: member.value.text) }
        return try record(from: JSONText(validated: json.object))
    }
}
