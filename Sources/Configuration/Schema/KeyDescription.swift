/// One key of a file: the reader takes its rules from here, and so does the reference that people read.
struct KeyDescription: Sendable {
    enum Requirement: Sendable {
        case required
        /// May be left out; the text says what happens then, for the reference alone.
        case optional(String)
        /// Read as this text when it is left out; for a section, whose own keys have defaults, empty.
        case byDefault(String)
    }

    let name: String
    let kind: ValueKind
    let requirement: Requirement
    let meaning: String

    init(_ name: String, _ kind: ValueKind, _ requirement: Requirement, _ meaning: String) {
        self.name = name
        self.kind = kind
        self.requirement = requirement
        self.meaning = meaning
    }
}

/// What may stand at a key.
indirect enum ValueKind: Sendable {
    /// Any text but the empty one; what it looks like, for the reference.
    case text(String)
    /// A text that no message quotes.
    case secret
    /// A path, relative to the folder of the file that names it.
    case file
    case topic
    case duration(ClosedRange<Duration>)
    /// In bytes.
    case size(ClosedRange<Int>)
    case integer(ClosedRange<Int>)
    /// A fraction of 0 to 1 with up to three digits, read as thousandths.
    case fraction
    case boolean
    /// One of these words; those in `later` are understood, but not served yet.
    case choice([String], later: [String] = [])
    case section([KeyDescription])
    case list(of: ValueKind, atLeast: Int = 0)
    /// Keys that the author names.
    case table(of: ValueKind, keys: String)
    /// A word, or a section that says more.
    case textOrSection(String, [KeyDescription])
    /// Understood so that its absence is no surprise, and refused unless empty: this version cannot honour it.
    case later

    /// Whether one text holds it, so that an environment variable can override it.
    var isScalar: Bool {
        switch self {
        case .text, .secret, .file, .topic, .duration, .size, .integer, .fraction, .boolean, .choice: true
        case .section, .list, .table, .textOrSection, .later: false
        }
    }
}
