import AegisContent
import Testing

@Suite struct PrivacyCorpusTests {
    private let screen = PrivacyGuard()

    @Test func `the corpus is large, mostly tricky and in many languages`() throws {
        let lines = try PrivacyCorpus().lines
        #expect(lines.count >= 1_000)
        #expect(Set(lines.map(\.text)).count == lines.count)
        #expect(Set(lines.map(\.locale)).count >= 15)
        #expect(lines.count { $0.label == nil } * 100 >= lines.count * 45)
        #expect(Set(lines.compactMap(\.label)).count == PrivacyFinding.allCases.count)
    }

    @Test func `texts that no rule was fitted to are told apart`() throws {
        var heldOut = PrivacyScore()
        for line in try PrivacyCorpus().lines where line.isHeldOut {
            heldOut.count(screen.finding(in: line.text, rule: .strict), for: line.label)
        }
        print("privacy guard, held-out texts: \(heldOut)")
        #expect(heldOut.precision >= 0.98)
        #expect(heldOut.recall >= 0.95)
    }

    @Test func `texts that the rules were written with are told apart`() throws {
        var development = PrivacyScore()
        var failures: [String] = []
        for line in try PrivacyCorpus().lines where !line.isHeldOut {
            let finding = screen.finding(in: line.text, rule: .strict)
            development.count(finding, for: line.label)
            if (finding == nil) != (line.label == nil) {
                failures.append("line \(line.number): \(finding?.rawValue ?? "ok") for \(line.text)")
            }
        }
        print("privacy guard, development texts: \(development)")
        #expect(development.precision >= 0.99, "\(failures.joined(separator: "\n"))")
        #expect(development.recall >= 0.98, "\(failures.joined(separator: "\n"))")
    }

    @Test func `where amounts are allowed nothing else is`() throws {
        for line in try PrivacyCorpus().lines {
            let strict = screen.finding(in: line.text, rule: .strict)
            let lenient = screen.finding(in: line.text, rule: .amountsAllowed)
            #expect(lenient == (strict == .amount ? nil : strict))
        }
    }
}
