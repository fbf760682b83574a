import AegisCore
import Testing

@Suite struct ExactTextTests {
    private let composed = "jos\u{E9}"
    private let decomposed = "jose\u{301}"

    @Test func `identifiers are the same only if every byte is`() throws {
        #expect(composed == decomposed, "Swift holds them for one text")
        #expect(try UserID(composed) != UserID(decomposed))
        #expect(try UserID(composed) == UserID(composed))
        #expect(AppID("com.example.K") != AppID("com.example.\u{212A}"))
        #expect(EventIdentity(source: "s", id: composed) != EventIdentity(source: "s", id: decomposed))
        #expect(EventIdentity(source: composed, id: "1") != EventIdentity(source: decomposed, id: "1"))
        #expect(EventIdentity(source: composed, id: "1") == EventIdentity(source: composed, id: "1"))
    }

    @Test func `tables keep both`() throws {
        var counts: [UserID: Int] = [:]
        counts[try UserID(composed), default: 0] += 1
        counts[try UserID(decomposed), default: 0] += 1
        #expect(counts.count == 2)
        #expect(try counts[UserID(composed)] == 1)
    }
}
