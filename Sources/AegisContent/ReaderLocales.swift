import AegisCore
import Synchronization

/// Which texts and which formats a reader's locale takes, found once for each locale.
final class ReaderLocales: Sendable {
    /// What one locale of a device comes to.
    final class Reader: Sendable {
        let tag: LocaleTag
        let formats: LocaleFormats
        let plurals: PluralRule
        /// Indices of the catalog's locales, the best first: `de-AT`, `de`, then the default and its parents.
        let candidates: [Int]

        init(_ tag: LocaleTag, candidates: [Int]) {
            self.tag = tag
            self.candidates = candidates
            formats = LocaleFormats(tag)
            plurals = PluralRule(tag)
        }

        func best(of texts: [CompiledType.Texts?]) -> CompiledType.Texts? {
            for index in candidates {
                if let found = texts[index] { return found }
            }
            return nil
        }
    }

    private let defaultLocale: LocaleTag
    /// By the lower-case tag; the index is that of the catalog's locales.
    private let indices: [String: [Int]]
    private let readers = Mutex<[LocaleTag: Reader]>([:])
    /// Tags come from devices, so how many are remembered has a bound.
    private static let capacity = 1_024

    /// - Parameter locales: Of all texts of the catalog.
    init(_ locales: [LocaleTag], default defaultLocale: LocaleTag) {
        self.defaultLocale = defaultLocale
        indices = Dictionary(grouping: locales.indices) { locales[$0].text.lowercased() }
    }

    func reader(of tag: LocaleTag) -> Reader {
        readers.withLock { readers in
            if let known = readers[tag] { return known }
            if readers.count >= Self.capacity { readers.removeAll() }
            let reader = Reader(tag, candidates: candidates(for: tag))
            readers[tag] = reader
            return reader
        }
    }

    private func candidates(for tag: LocaleTag) -> [Int] {
        var found: [Int] = []
        for start in [tag, defaultLocale] {
            var candidate: LocaleTag? = start
            while let tag = candidate {
                for index in indices[tag.text.lowercased()] ?? [] where !found.contains(index) { found.append(index) }
                candidate = tag.parent
            }
        }
        return found
    }
}
