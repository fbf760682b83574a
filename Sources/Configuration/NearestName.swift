/// Finds the known name that a mistyped one most likely means.
enum NearestName {
    /// Longer names are not compared: the comparison takes the product of both lengths.
    private static let longestName = 80

    /// The known name with the fewest edits, the first of equals; nil when none is near.
    static func to(_ candidate: String, among known: some Sequence<String>) -> String? {
        let lowered = Array(candidate.lowercased().utf8)
        guard lowered.count <= longestName else { return nil }
        let limit = (lowered.count + 2) / 3
        var best: (name: String, edits: Int)?
        for name in known {
            let other = Array(name.lowercased().utf8)
            guard other.count <= longestName, abs(other.count - lowered.count) <= limit else { continue }
            let edits = edits(lowered, other)
            if edits <= limit, best.map({ edits < $0.edits }) ?? true {
                best = (name, edits)
            }
        }
        return best?.name
    }

    /// `did you mean "brokers"?`, or nil.
    static func question(_ candidate: String, among known: some Sequence<String>) -> String? {
        to(candidate, among: known).map { "did you mean \"\($0)\"?" }
    }

    /// How many letters must be added, dropped, replaced or swapped with their neighbour.
    private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
