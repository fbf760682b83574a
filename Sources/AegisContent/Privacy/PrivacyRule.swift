/// How much the visible text of a notification type may show.
///
/// - Source: the catalog's `privacy:` key.
package enum PrivacyRule: String, Hashable, Sendable, CaseIterable {
    case strict
    case amountsAllowed = "amounts-allowed"
}
