import HTTPTransport
import Testing

@Suite("Header fields as values")
struct HTTPFieldsTests {
    private static let id = HTTPField.Name("X-Id")!

    @Test("keep their order, and the case that names are given in")
    func order() {
        var fields: HTTPFields = [.accept: "a", Self.id: "1"]
        fields.append(HTTPField(name: HTTPField.Name("x-ID")!, value: "2"))
        #expect(fields.map { "\($0.name)=\($0.value)" } == ["Accept=a", "X-Id=1", "x-ID=2"])
    }

    @Test("are found in any case, and joined where a name occurs again")
    func finding() {
        var fields: HTTPFields = [Self.id: "1", .accept: "a"]
        fields.append(HTTPField(name: HTTPField.Name("x-id")!, value: "2"))
        #expect(fields[HTTPField.Name("X-ID")!] == "1, 2")
        #expect(fields[values: Self.id] == ["1", "2"])
        #expect(fields[.eTag] == nil)
        #expect(fields.contains(HTTPField.Name("x-Id")!) && !fields.contains(.eTag))
    }

    @Test("are replaced where the first one was, and removed altogether")
    func replacing() {
        var fields: HTTPFields = [Self.id: "1", .accept: "a", HTTPField.Name("x-id")!: "2"]
        fields[Self.id] = "3"
        #expect(fields.map(\.value) == ["3", "a"])
        fields[Self.id] = nil
        #expect(fields.map(\.value) == ["a"])
    }

    @Test(
        "have names that are words",
        arguments: ["", " ", "a b", "a:b", "a\r\nb", "a\u{0}", "é", "(a)", "a/b", "\u{7F}"]
    )
    func names(_ name: String) {
        #expect(HTTPField.Name(name) == nil)
        #expect(HTTPRequest.Method(name) == nil)
    }

    @Test("have names of any case that are the same")
    func sameNames() {
        let names = ["ETag", "etag", "ETAG"].map { HTTPField.Name($0)! }
        #expect(Set(names).count == 1)
        #expect(names.map(\.rawName) == ["ETag", "etag", "ETAG"])
        #expect(HTTPField.Name("e-tag") != names[0])
        // Letters only: what is 32 apart elsewhere is another name.
        #expect(HTTPField.Name("a^") != HTTPField.Name("a~") && HTTPField.Name("a`") != HTTPField.Name("a@"))
    }

    @Test(
        "have values on one line",
        arguments: [
            ("a", true), ("", true), ("a\tb é", true), ("a\rb", false), ("a\nb", false), ("a\u{0}b", false),
            ("\u{7F}", false), ("\u{1}", false),
        ]
    )
    func values(_ value: String, _ isValid: Bool) {
        #expect(HTTPField.isValidValue(value) == isValid)
    }
}
