/// A value that was read by its description, with the place it came from.
struct Setting: Sendable {
    indirect enum Content: Sendable {
        case text(String)
        case duration(Duration)
        /// A whole number, a size in bytes, or thousandths.
        case number(Int)
        case boolean(Bool)
        case section(Section)
        case list([Setting])
        case table([(key: String, value: Setting)])
        /// What stood there could not be read; the problem is reported.
        case unreadable
    }

    var content: Content
    var place: Place

    var text: String? { if case .text(let text) = content { text } else { nil } }
    var section: Section? { if case .section(let section) = content { section } else { nil } }
}

/// The settings of one section by key: what has a default is there, whether written or not.
///
/// The plain accessors are for keys that are required or have a default. Where such a value is missing or unreadable, a
/// problem has been reported and nothing that is built from it is used; they answer with an empty value.
struct Section: Sendable {
    var settings: [String: Setting]
    var place: Place
    /// The keys that were written, or overridden.
    var written: Set<String>

    func setting(_ key: String) -> Setting? { settings[key] }

    /// Where a key was written, else where its section begins.
    func place(of key: String) -> Place { settings[key]?.place ?? place.key(key, at: nil) }

    /// Whether anything was written at the key, readable or not.
    func has(_ key: String) -> Bool { written.contains(key) }

    func textIfSet(_ key: String) -> String? { settings[key]?.text }

    func text(_ key: String) -> String { textIfSet(key) ?? "" }

    func secret(_ key: String) -> Secret? { textIfSet(key).map(Secret.init) }

    func choice<Choice: RawRepresentable<String>>(_ key: String, or fallback: Choice) -> Choice {
        textIfSet(key).flatMap(Choice.init) ?? fallback
    }

    func durationIfSet(_ key: String) -> Duration? {
        if case .duration(let duration)? = settings[key]?.content { duration } else { nil }
    }

    func duration(_ key: String) -> Duration { durationIfSet(key) ?? .zero }

    func numberIfSet(_ key: String) -> Int? {
        if case .number(let number)? = settings[key]?.content { number } else { nil }
    }

    func number(_ key: String) -> Int { numberIfSet(key) ?? 0 }

    func boolean(_ key: String) -> Bool {
        if case .boolean(let value)? = settings[key]?.content { value } else { false }
    }

    func sectionIfSet(_ key: String) -> Section? { settings[key]?.section }

    func section(_ key: String) -> Section {
        sectionIfSet(key) ?? Section(settings: [:], place: place(of: key), written: [])
    }

    func list(_ key: String) -> [Setting] {
        if case .list(let elements)? = settings[key]?.content { elements } else { [] }
    }

    func table(_ key: String) -> [(key: String, value: Setting)] {
        if case .table(let entries)? = settings[key]?.content { entries } else { [] }
    }
}
