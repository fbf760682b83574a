extension QuietHours {
    /// When the quiet ends that holds at `now`; nil where none holds.
    ///
    /// Windows that touch or overlap count as one. Whoever is quiet without an end gets a moment not before `limit`: what
    /// waits is of no use by then.
    ///
    /// - Parameter zone: An IANA zone that `rules` know; in an unknown one it is never quiet.
    package func end(
        ofQuietAt now: UnixTime, in zone: String, until limit: UnixTime, by rules: borrowing some LocalTimeRules
    ) -> UnixTime? {
        guard isEnabled, !windows.isEmpty else { return nil }
        var end: UnixTime?
        var moment = now
        // Each round ends one window; the bound holds where a calendar contradicts itself.
        for _ in 0..<Self.longestChain {
            guard let local = rules.localTime(at: moment, in: zone),
                let window = windows.first(where: { $0.contains(local) }),
                let next = window.end(after: moment, showing: local, in: zone, by: rules), next > moment
            else { return end }
            end = next
            moment = next
            if next >= limit { return next }
        }
        return end
    }

    private static let longestChain = 128
}

extension QuietHours.Window {
    /// Whether the wall clock lies in the window; its days are those on which it begins.
    package func contains(_ local: LocalTime) -> Bool {
        guard end <= start else {
            return local.minutes >= start && local.minutes < end && days.contains(local.weekday)
        }
        return local.minutes >= start && days.contains(local.weekday)
            || local.minutes < end && days.contains(local.weekday.previous)
    }

    fileprivate func end(
        after moment: UnixTime, showing local: LocalTime, in zone: String, by rules: borrowing some LocalTimeRules
    ) -> UnixTime? {
        let minutes = end == 1_440 ? 0 : end
        // A window of a whole day begins in the very minute that ends it: that of the next day is meant.
        let start = local.minutes == minutes ? moment.advanced(by: .seconds(60)) : moment
        return rules.next(minutes: minutes, after: start, in: zone)
    }
}

extension Weekday {
    /// The day before.
    package var previous: Weekday {
        switch self {
        case .mon: .sun
        case .tue: .mon
        case .wed: .tue
        case .thu: .wed
        case .fri: .thu
        case .sat: .fri
        case .sun: .sat
        }
    }
}
