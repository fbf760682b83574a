import AegisContent
import AegisCore

extension CatalogTypeAssembly {
    /// What iOS lets through of silent pushes is a few an hour.
    ///
    /// - Source: Apple, "Pushing background updates to your App".
    private static let backgroundRule = FrequencyRule(
        limit: FrequencyLimit(max: 3, per: .seconds(3_600)), over: .digest)

    mutating func frequency(of priority: Priority, isBackground: Bool) -> FrequencyRule? {
        guard let frequency = section.sectionIfSet("frequency") else {
            return isBackground ? Self.backgroundRule : nil
        }
        if priority == .critical {
            problems.report(
                "a critical type ignores it", at: section.place(of: "frequency"),
                remedy: "leave it out, or choose priority: high")
        }
        let over = frequency.choice("over", or: isBackground ? FrequencyOverflow.digest : .drop)
        if isBackground, over != .digest {
            problems.report(
                "a background push knows digest alone", at: frequency.place(of: "over"),
                remedy: "write over: digest; the newest then goes when there is room")
        }
        guard let per = frequency.durationIfSet("per") else { return nil }
        if let retention, per > retention {
            problems.report(
                "\(ScalarText.text(per)) is longer than the ledger remembers", at: frequency.place(of: "per"),
                remedy: "store.retention is \(ScalarText.text(retention))")
        }
        let timeToLive = section.duration("ttl")
        if over != .drop, timeToLive > .zero, timeToLive < per {
            problems.warn(
                "what waits for room may expire before: ttl is \(ScalarText.text(timeToLive))",
                at: frequency.place(of: "per"))
        }
        return FrequencyRule(limit: FrequencyLimit(max: frequency.number("max"), per: per), over: over)
    }

    /// A digest has texts where there is one, and nowhere else.
    mutating func checkDigest(_ type: CatalogType) {
        let isWritten = section.has("digest")
        guard type.rules.pushType == .alert, type.rules.frequency?.over == .digest else {
            // A rule that cannot be read may have been meant to want them.
            guard isWritten, section.setting("frequency")?.isReadable ?? true else { return }
            problems.warn(
                "is used for visible types whose frequency has `over: digest` alone", at: section.place(of: "digest"))
            return
        }
        guard let defaultLocale, type.digest[defaultLocale] == nil, section.setting("digest")?.isReadable ?? true
        else { return }
        problems.report(
            "wants texts in \(defaultLocale), the default locale", at: section.place(of: "digest"),
            remedy: "they say {{digest.count}} in one")
    }
}
