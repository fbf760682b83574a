extension Template {
    /// A text of the template, or the path of the value that takes a place.
    package enum Segment: Hashable, Sendable {
        case literal(String)
        case place(String)
    }

    /// What the template is made of, in order, without its filters.
    package var segments: [Segment] {
        pieces.map { piece in
            switch piece {
            case .literal(let literal): .literal(String(decoding: literal.text, as: UTF8.self))
            case .place(let place): .place(place.path.name)
            }
        }
    }

    /// The paths of all values that it reads, in order; the currency of an amount is one of them.
    package var paths: [String] {
        places.flatMap { place in
            [place.path.name]
                + place.filters.compactMap { filter in
                    switch filter {
                    case .money(.path(let path)): path.name
                    case .money(.code), .number, .date, .plural, .truncate: nil
                    }
                }
        }
    }

    /// The paths of places without a `default`: an event that lacks one of them is a dead letter.
    package var requiredPaths: [String] {
        places.filter { $0.substitute == nil }.map(\.path.name)
    }

    /// The text, where it is the same for every event.
    package var literal: String? {
        guard places.isEmpty else { return nil }
        return segments.map { if case .literal(let text) = $0 { text } else { "" } }.joined()
    }

    /// Whether a value is written as an amount of money.
    package var formatsMoney: Bool {
        places.contains { $0.filters.contains { if case .money = $0 { true } else { false } } }
    }

    private var places: [TemplatePlace] {
        pieces.compactMap { piece in
            switch piece {
            case .literal: nil
            case .place(let place): place
            }
        }
    }
}
