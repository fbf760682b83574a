package import AegisCore

/// One notification for one person, decided and not written yet; ``Renderer`` makes it, once for all devices.
package final class RenderRequest: Sendable {
    let type: CompiledType
    let values: TemplateValues

    init(type: CompiledType, values: TemplateValues) {
        self.type = type
        self.values = values
    }
}

/// A notification as it goes out, but for the badge's number.
package struct RenderedPush: Hashable, Sendable {
    package var payload: PushPayload
    package var threadID: String?
    /// Of the text that was used; the preferred one for pushes without text.
    package var locale: LocaleTag
    /// What the privacy guard found in the text whose place the type's neutral one has taken; nil where the text stands.
    package var refused: PrivacyFinding?
    private let titleRange: Range<Int>?
    private let deepLinkRange: Range<Int>?

    init(
        payload: PushPayload, threadID: String?, locale: LocaleTag, refused: PrivacyFinding?, titleRange: Range<Int>?,
        deepLinkRange: Range<Int>?
    ) {
        self.payload = payload
        self.threadID = threadID
        self.locale = locale
        self.refused = refused
        self.titleRange = titleRange
        self.deepLinkRange = deepLinkRange
    }

    /// As shown, after any trimming; nil for background pushes and where the app writes the title.
    package var title: String? { text(titleRange) }
    package var deepLink: String? { text(deepLinkRange) }

    private func text(_ range: Range<Int>?) -> String? {
        guard let range, range.upperBound <= payload.bytes.count else { return nil }
        return String(decoding: JSONText.unescaped(payload.bytes[range]), as: UTF8.self)
    }
}
