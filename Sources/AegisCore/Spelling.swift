/// Finds what somebody probably meant when a name is unknown.
package enum Spelling {
    /// The candidate with the fewest edits from `name`, if they are few enough to be a slip; ties go to the first by name.
    package static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
        let written = Array(name.lowercased().utf8)
        guard written.count <= 64 else { return nil }
        var best: (name: String, edits: Int)?
        for candidate in candidates.sorted() {
            let edits = edits(from: written, to: Array(candidate.lowercased().utf8))
            if edits < best?.edits ?? .max { best = (candidate, edits) }
        }
        guard let best, best.edits <= max(1, written.count / 3) else { return nil }
        return best.name
    }

    /// `did you mean "brokers"?`, or nil.
    package static func question(_ name: String, among candidates: some Sequence<String>) -> String? {
        nearest(to: name, among: candidates).map { "did you mean \"\($0)\"?" }
    }

    /// Insertions, deletions, replacements and swaps of neighbours.
    private static func edits(from left: [UInt8], to right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in right.indices {
                var fewest = last[column] + (left[row] == right[column] ? 0 : 1)
                fewest = min(fewest, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    fewest = min(fewest, beforeLast[column - 1] + 1)
                }
                current.append(fewest)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
