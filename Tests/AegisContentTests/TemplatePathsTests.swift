import AegisContent
import Testing

@Suite struct TemplatePathsTests {
    @Test func `a template tells what it reads, the currency of an amount included`() throws {
        let template = try Template(parsing: #"{{a.b | money(c.d)}} of {{e | default("x")}}, {{f | money(EUR)}}"#)
        #expect(template.paths == ["a.b", "c.d", "e", "f"])
        #expect(template.requiredPaths == ["a.b", "f"])
        #expect(template.formatsMoney)
        #expect(template.literal == nil)
        #expect(
            template.segments == [.place("a.b"), .literal(" of "), .place("e"), .literal(", "), .place("f")])
    }

    @Test func `a text without places reads nothing`() throws {
        let template = try Template(parsing: "Ünïcode \"quoted\" {x}")
        #expect(template.paths.isEmpty)
        #expect(template.literal == "Ünïcode \"quoted\" {x}")
        #expect(!template.formatsMoney)
    }
}
