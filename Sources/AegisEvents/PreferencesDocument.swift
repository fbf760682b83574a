package import AegisCore

/// The JSON in which a person's preferences are read and changed.
///
/// - Shape: `{types:{T:{enabled,frequency:{max,per}}}, categories:{C:{enabled}}, threads:{ID:{muted_until}}, quiet_hours:{enabled,time_zone,
///   windows:[{days,start,end}]}, marketing:{granted,at,source}, playSoundChat, muted_until}`; every member is optional and
///   null means absent. Times are RFC 3339; a window runs from `HH:MM` to `HH:MM`, `24:00` being an end.
package enum PreferencesDocument {
    /// Reads a whole document: what it leaves out has its default.
    ///
    /// - Throws: ``PreferencesProblem`` with every fault.
    package static func decode(_ bytes: [UInt8]) throws(PreferencesProblem) -> Preferences {
        try merge(bytes, into: .default)
    }

    /// Reads a change: what it leaves out stays, null takes away, and `windows` are replaced as a whole.
    ///
    /// - Throws: ``PreferencesProblem`` with every fault.
    /// - Source: RFC 7396, JSON Merge Patch.
    package static func merge(
        _ bytes: [UInt8], into preferences: Preferences
    ) throws(PreferencesProblem) -> Preferences {
        let document: EventData
        do throws(JSONFault) {
            document = try JSONScanner.scan(bytes, limits: JSONLimits(bytes: 65_536, depth: 16, numberBytes: 64))
        } catch {
            throw PreferencesProblem(fields: [.init(path: "", message: error.description)])
        }
        var reader = PreferencesReader(document: document, preferences: preferences)
        reader.read()
        guard reader.problems.isEmpty else { throw PreferencesProblem(fields: reader.problems) }
        return reader.preferences
    }

    /// Writes what ``decode(_:)`` reads to the same preferences; names are sorted, so equal preferences have equal bytes.
    package static func encode(_ preferences: Preferences) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("types")
            writer.types(preferences)
            writer.key("categories")
            writer.switches(preferences.categories)
            writer.key("threads")
            writer.object { writer in
                for (thread, until) in preferences.mutedThreads.sorted(by: { $0.key < $1.key }) {
                    writer.key(thread)
                    writer.object { $0.member("muted_until", Timestamp.rfc3339(until)) }
                }
            }
            if let quietHours = preferences.quietHours {
                writer.key("quiet_hours")
                writer.quietHours(quietHours)
            }
            if let marketing = preferences.marketing {
                writer.key("marketing")
                writer.object { writer in
                    writer.member("granted", marketing.isGranted)
                    if let at = marketing.at { writer.member("at", Timestamp.rfc3339(at)) }
                    if let source = marketing.source { writer.member("source", source) }
                }
            }
            writer.member("playSoundChat", preferences.playSoundChat)
            if let until = preferences.mutedUntil { writer.member("muted_until", Timestamp.rfc3339(until)) }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func types(_ preferences: Preferences) {
        object { writer in
            for name in Set(preferences.types.keys).union(preferences.frequencies.keys).sorted() {
                writer.key(name)
                writer.object { writer in
                    if let isEnabled = preferences.types[name] { writer.member("enabled", isEnabled) }
                    guard let limit = preferences.frequencies[name] else { return }
                    writer.key("frequency")
                    writer.object { writer in
                        writer.key("max")
                        writer.raw(String(limit.max).utf8)
                        writer.member("per", DurationText.text(limit.per))
                    }
                }
            }
        }
    }

    fileprivate mutating func switches(_ switches: [String: Bool]) {
        object { writer in
            for (name, isEnabled) in switches.sorted(by: { $0.key < $1.key }) {
                writer.key(name)
                writer.object { $0.member("enabled", isEnabled) }
            }
        }
    }

    fileprivate mutating func quietHours(_ quietHours: QuietHours) {
        object { writer in
            writer.member("enabled", quietHours.isEnabled)
            if let zone = quietHours.timeZone { writer.member("time_zone", zone) }
            writer.key("windows")
            writer.array { writer in
                for window in quietHours.windows {
                    writer.element()
                    writer.object { writer in
                        writer.key("days")
                        writer.array { writer in
                            for day in Weekday.allCases where window.days.contains(day) {
                                writer.element()
                                writer.string(day.rawValue)
                            }
                        }
                        writer.member("start", clockText(window.start))
                        writer.member("end", clockText(window.end))
                    }
                }
            }
        }
    }
}

/// `HH:MM` of minutes after midnight.
private func clockText(_ minutes: Int) -> String {
    let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
    return (hour < 10 ? "0" : "") + String(hour) + (minute < 10 ? ":0" : ":") + String(minute)
}
