import AegisCore

/// Applies a scanned document to preferences and collects what is wrong with it.
struct PreferencesReader {
    private let document: EventData
    private(set) var preferences: Preferences
    private(set) var problems: [PreferencesProblem.Field] = []

    init(document: EventData, preferences: Preferences) {
        self.document = document
        self.preferences = preferences
    }

    mutating func read() {
        guard isObject(at: 0, path: "") else { return }
        for index in document.children(at: 0) {
            let key = document.key(of: document.nodes[index])
            switch key {
            case "types":
                preferences.types = switches(preferences.types, at: index, path: key, others: ["frequency"])
                readFrequencies(at: index)
            case "categories":
                preferences.categories = switches(preferences.categories, at: index, path: key, others: [])
            case "threads": readThreads(at: index)
            case "quiet_hours": readQuietHours(at: index)
            case "marketing": readMarketing(at: index)
            case "playSoundChat":
                if isNull(index) {
                    preferences.playSoundChat = Preferences.default.playSoundChat
                } else if let plays = bool(at: index, path: key) {
                    preferences.playSoundChat = plays
                }
            case "muted_until": preferences.mutedUntil = isNull(index) ? nil : time(at: index, path: key)
            default: refuseKey(key, in: "", known: Self.rootKeys)
            }
        }
    }

    private static let rootKeys = [
        "types", "categories", "threads", "quiet_hours", "marketing", "playSoundChat", "muted_until",
    ]

    private mutating func switches(
        _ current: [String: Bool], at index: Int, path: String, others: [String]
    ) -> [String: Bool] {
        if isNull(index) { return [:] }
        guard isObject(at: index, path: path) else { return current }
        var switches = current
        for entry in document.children(at: index) {
            let name = document.key(of: document.nodes[entry])
            let entryPath = "\(path).\(name)"
            if isNull(entry) {
                switches[name] = nil
                continue
            }
            guard isNamed(name, path: path), isObject(at: entry, path: entryPath) else { continue }
            for member in document.children(at: entry) {
                let key = document.key(of: document.nodes[member])
                switch key {
                case "enabled":
                    if isNull(member) {
                        switches[name] = nil
                    } else if let isEnabled = bool(at: member, path: "\(entryPath).enabled") {
                        switches[name] = isEnabled
                    }
                case _ where others.contains(key): break
                default: refuseKey(key, in: entryPath, known: ["enabled"] + others)
                }
            }
        }
        return switches
    }

    /// The limits among a document's `types`, whose shape ``switches(_:at:path:others:)`` has checked.
    private mutating func readFrequencies(at index: Int) {
        if isNull(index) { preferences.frequencies = [:] }
        guard document.nodes[index].kind == .object else { return }
        for entry in document.children(at: index) {
            let name = document.key(of: document.nodes[entry])
            if isNull(entry) { preferences.frequencies[name] = nil }
            guard document.nodes[entry].kind == .object else { continue }
            for member in document.children(at: entry)
            where document.key(of: document.nodes[member]) == "frequency" {
                let path = "types.\(name).frequency"
                if isNull(member) {
                    preferences.frequencies[name] = nil
                } else if let limit = frequency(at: member, path: path, current: preferences.frequencies[name]) {
                    preferences.frequencies[name] = limit
                }
            }
        }
    }

    private mutating func frequency(at index: Int, path: String, current: FrequencyLimit?) -> FrequencyLimit? {
        guard isObject(at: index, path: path) else { return nil }
        var max = current?.max
        var per = current?.per
        var isWhole = true
        for member in document.children(at: index) {
            let key = document.key(of: document.nodes[member])
            switch key {
            case "max":
                max =
                    document.nodes[member].kind == .number
                    ? Int(String(decoding: document.rawValue(of: document.nodes[member]), as: UTF8.self)) : nil
                if let number = max, !(1...10_000).contains(number) { max = nil }
                if max == nil {
                    problem("\(path).max", "must be a whole number from 1 to 10000; switch the type off for none")
                    isWhole = false
                }
            case "per":
                per = text(at: member, path: "\(path).per", limit: 32).flatMap { DurationText.parse($0) }
                if per.map({ !(.seconds(60) ... .seconds(30 * 86_400)).contains($0) }) ?? true {
                    problem("\(path).per", "must be a duration from 1m to 30d, such as 1h")
                    isWhole = false
                }
            default:
                refuseKey(key, in: path, known: ["max", "per"])
                isWhole = false
            }
        }
        guard isWhole else { return nil }
        guard let max, let per else {
            problem(path, "needs both max and per")
            return nil
        }
        return FrequencyLimit(max: max, per: per)
    }

    private mutating func readThreads(at index: Int) {
        if isNull(index) {
            preferences.mutedThreads = [:]
            return
        }
        guard isObject(at: index, path: "threads") else { return }
        for entry in document.children(at: index) {
            let thread = document.key(of: document.nodes[entry])
            let path = "threads.\(thread)"
            if isNull(entry) {
                preferences.mutedThreads[thread] = nil
                continue
            }
            guard isNamed(thread, path: "threads"), isObject(at: entry, path: path) else { continue }
            for member in document.children(at: entry) {
                let key = document.key(of: document.nodes[member])
                guard key == "muted_until" else {
                    refuseKey(key, in: path, known: ["muted_until"])
                    continue
                }
                preferences.mutedThreads[thread] = isNull(member) ? nil : time(at: member, path: "\(path).muted_until")
            }
        }
    }

    private mutating func readMarketing(at index: Int) {
        let path = "marketing"
        if isNull(index) {
            preferences.marketing = nil
            return
        }
        guard isObject(at: index, path: path) else { return }
        var isGranted = preferences.marketing?.isGranted
        var at = preferences.marketing?.at
        var source = preferences.marketing?.source
        for member in document.children(at: index) {
            let key = document.key(of: document.nodes[member])
            switch key {
            case "granted": isGranted = bool(at: member, path: "marketing.granted") ?? isGranted
            case "at": at = isNull(member) ? nil : time(at: member, path: "marketing.at")
            case "source": source = isNull(member) ? nil : text(at: member, path: "marketing.source", limit: 256)
            default: refuseKey(key, in: path, known: ["granted", "at", "source"])
            }
        }
        guard let isGranted else {
            if !problems.contains(where: { $0.path == "marketing.granted" }) {
                problem("marketing.granted", "is missing")
            }
            return
        }
        preferences.marketing = MarketingConsent(isGranted: isGranted, at: at, source: source)
    }
}

// MARK: Quiet hours

extension PreferencesReader {
    private mutating func readQuietHours(at index: Int) {
        let path = "quiet_hours"
        if isNull(index) {
            preferences.quietHours = nil
            return
        }
        guard isObject(at: index, path: path) else { return }
        var isEnabled = preferences.quietHours?.isEnabled
        var zone = preferences.quietHours?.timeZone
        var windows = preferences.quietHours?.windows ?? []
        for member in document.children(at: index) {
            let key = document.key(of: document.nodes[member])
            switch key {
            case "enabled": isEnabled = bool(at: member, path: "quiet_hours.enabled") ?? isEnabled
            case "time_zone": zone = isNull(member) ? nil : self.zone(at: member)
            case "windows": windows = isNull(member) ? [] : self.windows(at: member)
            default: refuseKey(key, in: path, known: ["enabled", "time_zone", "windows"])
            }
        }
        guard let isEnabled else {
            if !problems.contains(where: { $0.path == "quiet_hours.enabled" }) {
                problem("quiet_hours.enabled", "is missing")
            }
            return
        }
        preferences.quietHours = QuietHours(isEnabled: isEnabled, timeZone: zone, windows: windows)
    }

    /// Whether the zone exists is for whoever has a time zone database to say.
    private mutating func zone(at index: Int) -> String? {
        let path = "quiet_hours.time_zone"
        guard let name = text(at: index, path: path, limit: 64) else { return nil }
        let isPlausible = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "+"):
                true
            default: false
            }
        }
        guard isPlausible, !name.isEmpty else {
            problem(path, "is not the name of a time zone such as Europe/Berlin")
            return nil
        }
        return name
    }

    private mutating func windows(at index: Int) -> [QuietHours.Window] {
        let path = "quiet_hours.windows"
        guard document.nodes[index].kind == .array else {
            problem(path, "must be a list")
            return []
        }
        var windows: [QuietHours.Window] = []
        for (position, element) in document.children(at: index).enumerated() {
            let path = "\(path)[\(position)]"
            guard isObject(at: element, path: path) else { continue }
            if let window = window(at: element, path: path) { windows.append(window) }
        }
        return windows
    }

    private mutating func window(at index: Int, path: String) -> QuietHours.Window? {
        var days: Set<Weekday>?
        var start: Int?
        var end: Int?
        let known = problems.count
        for member in document.children(at: index) {
            let key = document.key(of: document.nodes[member])
            switch key {
            case "days": days = self.days(at: member, path: "\(path).days")
            case "start": start = minutes(at: member, path: "\(path).start", latest: 1_439)
            case "end": end = minutes(at: member, path: "\(path).end", latest: 1_440)
            default: refuseKey(key, in: path, known: ["days", "start", "end"])
            }
        }
        if let days, let start, let end { return QuietHours.Window(days: days, start: start, end: end) }
        for (name, isMissing) in [("days", days == nil), ("start", start == nil), ("end", end == nil)] where isMissing {
            // A member that is there and wrong has been named already.
            guard !problems[known...].contains(where: { $0.path.hasPrefix("\(path).\(name)") }) else { continue }
            problem("\(path).\(name)", "is missing")
        }
        return nil
    }

    private mutating func days(at index: Int, path: String) -> Set<Weekday>? {
        guard document.nodes[index].kind == .array else {
            problem(path, "must be a list of days, mon to sun")
            return nil
        }
        var days: Set<Weekday> = []
        for (position, element) in document.children(at: index).enumerated() {
            guard let day = document.text(of: document.nodes[element]).flatMap(Weekday.init(rawValue:)) else {
                problem("\(path)[\(position)]", "must be one of mon, tue, wed, thu, fri, sat, sun")
                return nil
            }
            days.insert(day)
        }
        guard !days.isEmpty else {
            problem(path, "must name a day")
            return nil
        }
        return days
    }

    private mutating func minutes(at index: Int, path: String, latest: Int) -> Int? {
        var cursor = TextCursor(Array((document.text(of: document.nodes[index]) ?? "").utf8))
        guard let hours = cursor.number(digits: 2), cursor.take(":"), let minutes = cursor.number(digits: 2),
            cursor.isAtEnd, minutes < 60, hours * 60 + minutes <= Int64(latest)
        else {
            problem(path, latest == 1_440 ? "must be HH:MM, 00:00 to 24:00" : "must be HH:MM, 00:00 to 23:59")
            return nil
        }
        return Int(hours * 60 + minutes)
    }
}

// MARK: Values

extension PreferencesReader {
    private mutating func problem(_ path: String, _ message: String) {
        problems.append(PreferencesProblem.Field(path: path, message: message))
    }

    private mutating func refuseKey(_ key: String, in path: String, known: [String]) {
        let nearest = Spelling.nearest(to: key, among: known).map { ", perhaps \($0)" } ?? ""
        problem(path.isEmpty ? key : "\(path).\(key)", "is unknown\(nearest)")
    }

    private func isNull(_ index: Int) -> Bool {
        document.nodes[index].kind == .null
    }

    private mutating func isObject(at index: Int, path: String) -> Bool {
        if document.nodes[index].kind == .object { return true }
        problem(path, "must be an object")
        return false
    }

    private mutating func isNamed(_ name: String, path: String) -> Bool {
        if (1...256).contains(name.utf8.count) { return true }
        problem(path, "a name has 1 to 256 bytes")
        return false
    }

    private mutating func bool(at index: Int, path: String) -> Bool? {
        if let flag = document.bool(of: document.nodes[index]) { return flag }
        problem(path, "must be true or false")
        return nil
    }

    private mutating func text(at index: Int, path: String, limit: Int) -> String? {
        guard let text = document.text(of: document.nodes[index]) else {
            problem(path, "must be a text")
            return nil
        }
        guard text.utf8.count <= limit else {
            problem(path, "has at most \(limit) bytes")
            return nil
        }
        return text
    }

    private mutating func time(at index: Int, path: String) -> UnixTime? {
        if let time = document.text(of: document.nodes[index]).flatMap(Timestamp.parseRFC3339) { return time }
        problem(path, "must be a time such as 2026-01-31T12:00:00Z")
        return nil
    }
}
