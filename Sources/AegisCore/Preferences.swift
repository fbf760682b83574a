/// What one person asked for.
///
/// Names of types and categories that this catalog does not know are kept: the app may be newer or older than it.
package struct Preferences: Hashable, Sendable {
    /// On or off by notification type; absent means the catalog's default.
    package var types: [String: Bool]
    /// The person's own limits by notification type; they take the place of the catalog's.
    package var frequencies: [String: FrequencyLimit]
    /// On or off by category; absent means on.
    package var categories: [String: Bool]
    /// Threads that are silent until a time, by thread id.
    package var mutedThreads: [String: UnixTime]
    /// Everything but critical types is muted until then.
    package var mutedUntil: UnixTime?
    package var quietHours: QuietHours?
    package var marketing: MarketingConsent?
    /// Whether chat plays `dm.aiff`.
    package var playSoundChat: Bool

    package init(
        types: [String: Bool] = [:], frequencies: [String: FrequencyLimit] = [:], categories: [String: Bool] = [:],
        mutedThreads: [String: UnixTime] = [:],
        mutedUntil: UnixTime? = nil, quietHours: QuietHours? = nil, marketing: MarketingConsent? = nil,
        playSoundChat: Bool = true
    ) {
        self.types = types
        self.frequencies = frequencies
        self.categories = categories
        self.mutedThreads = mutedThreads
        self.mutedUntil = mutedUntil
        self.quietHours = quietHours
        self.marketing = marketing
        self.playSoundChat = playSoundChat
    }

    /// What holds for somebody who never said anything.
    package static let `default` = Preferences()
}

/// Consent to marketing, with where and when it was given.
package struct MarketingConsent: Hashable, Sendable {
    package var isGranted: Bool
    package var at: UnixTime?
    package var source: String?

    package init(isGranted: Bool, at: UnixTime?, source: String?) {
        self.isGranted = isGranted
        self.at = at
        self.source = source
    }
}

/// The windows in which a person wants quiet, in their own time zone.
package struct QuietHours: Hashable, Sendable {
    /// One window of some weekdays, named by the day it begins on.
    package struct Window: Hashable, Sendable {
        package var days: Set<Weekday>
        /// Minutes after local midnight, 0 to 1439; the first quiet minute.
        package var start: Int
        /// Minutes after local midnight, 0 to 1440; the first minute after.
        ///
        /// Not later than `start`: it ends the next day.
        package var end: Int

        package init(days: Set<Weekday>, start: Int, end: Int) {
            self.days = days
            self.start = start
            self.end = end
        }
    }

    package var isEnabled: Bool
    /// An IANA zone; nil takes the newest device's, else UTC.
    package var timeZone: String?
    package var windows: [Window]

    package init(isEnabled: Bool, timeZone: String?, windows: [Window]) {
        self.isEnabled = isEnabled
        self.timeZone = timeZone
        self.windows = windows
    }
}

/// A day of the week, as preferences write it.
package enum Weekday: String, Hashable, Sendable, CaseIterable {
    case mon, tue, wed, thu, fri, sat, sun
}
