import AegisContent
import Foundation

/// The labelled texts of `corpus.tsv`, whose head says how they may be used.
struct PrivacyCorpus {
    struct Line: Sendable {
        let number: Int
        /// Nil for a harmless text.
        let label: PrivacyFinding?
        let locale: String
        let text: String

        /// Whether rules must not be fitted to this text.
        var isHeldOut: Bool {
            text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } % 3 == 0
        }
    }

    struct Malformed: Error {
        let number: Int
    }

    let lines: [Line]

    /// Reads the file beside this source.
    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "corpus.tsv")
        var lines: [Line] = []
        for (index, line) in try String(contentsOf: file, encoding: .utf8).split(separator: "\n").enumerated()
        where !line.hasPrefix("#") {
            let fields = line.split(separator: "\t", maxSplits: 2)
            guard fields.count == 3 else { throw Malformed(number: index + 1) }
            let label = PrivacyFinding(rawValue: String(fields[0]))
            guard label != nil || fields[0] == "ok" else { throw Malformed(number: index + 1) }
            let text = String(fields[2]).replacingOccurrences(of: "~|~", with: "")
            lines.append(Line(number: index + 1, label: label, locale: String(fields[1]), text: text))
        }
        self.lines = lines
    }
}

/// How well a guard tells the texts of one part of the corpus apart.
struct PrivacyScore: CustomStringConvertible {
    private(set) var found = 0
    private(set) var missed = 0
    private(set) var falseAlarms = 0
    private(set) var passed = 0
    /// Found, and under its own name.
    private(set) var named = 0
    private(set) var byLabel: [PrivacyFinding: (found: Int, total: Int)] = [:]

    mutating func count(_ finding: PrivacyFinding?, for label: PrivacyFinding?) {
        guard let label else {
            if finding == nil { passed += 1 } else { falseAlarms += 1 }
            return
        }
        byLabel[label, default: (0, 0)].total += 1
        guard let finding else {
            missed += 1
            return
        }
        byLabel[label, default: (0, 0)].found += 1
        found += 1
        if finding == label { named += 1 }
    }

    var precision: Double { Double(found) / Double(max(1, found + falseAlarms)) }
    var recall: Double { Double(found) / Double(max(1, found + missed)) }

    var description: String {
        let kinds = PrivacyFinding.allCases.compactMap { finding in
            byLabel[finding].map { "\(finding.rawValue) \($0.found)/\($0.total)" }
        }
        return """
            precision \(precision) (\(falseAlarms) false alarms in \(passed + falseAlarms) harmless texts), \
            recall \(recall) (\(found) of \(found + missed), \(named) under the right name)
              \(kinds.joined(separator: ", "))
            """
    }
}
