/// One line of a head or a trailer, taken apart (RFC 9112 5).
enum FieldLine {
    static func parse(_ line: ArraySlice<UInt8>) throws(RequestRefusal) -> (name: String, value: String) {
        if line.first == ByteClasses.space || line.first == ByteClasses.tab {
            throw .malformed("a field is folded over two lines")
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed("a field has no colon") }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(ByteClasses.isToken) else {
            throw .malformed("a field has no name, or one with a byte that names do not have")
        }
        let value = ByteClasses.trimmed(line[line.index(after: colon)...])
        guard value.allSatisfy(ByteClasses.isFieldContent), let text = String(validating: value, as: UTF8.self) else {
            throw .malformed("a field has a value with a control character, or one that is not UTF-8")
        }
        return (String(decoding: name, as: UTF8.self), text)
    }
}
