package import AegisCore

/// Turns records into events: every record becomes events, skips or rejections, whatever its bytes are.
///
/// What a record is, is found in this order: a null value, the limits, foreign first bytes, the content type, the `ce_` headers
/// of CloudEvents, the topic's configured format and last, where that is ``EventFormat/auto``, the body.
package struct EventDecoder: Sendable {
    private let formats: [String: EventFormat]
    private let limits: DecodeLimits

    package init(topics: [TopicFormat], limits: DecodeLimits = DecodeLimits()) {
        formats = Dictionary(topics.map { ($0.topic, $0.format) }, uniquingKeysWith: { _, last in last })
        self.limits = limits
    }

    /// At least one item, in the order of the record; a topic that was not configured is read as ``EventFormat/auto``.
    package func decode(_ record: KafkaRecord, from partition: TopicPartition) -> [DecodedItem] {
        guard let value = record.value else { return [.ignored(.tombstone)] }
        do throws(Rejection) {
            guard value.count <= limits.valueBytes else {
                throw .malformed("the value has \(value.count) bytes, more than \(limits.valueBytes)")
            }
            let headers = try HeaderReader(record.headers, limit: limits.headerBytes)
            return try decode(value, headers: headers, origin: EventOrigin(record: record, partition: partition))
        } catch {
            return [.rejected(error)]
        }
    }

    /// Reads what ``EventEncoder`` wrote; nil for anything else.
    package static func decodeStored(_ bytes: [UInt8]) -> DomainEvent? {
        // The frame of an event and its escapes come on top of what a record was allowed.
        let limits = JSONLimits(bytes: 1 << 28, depth: 1_024)
        guard let document = try? JSONScanner.scan(bytes, limits: limits) else { return nil }
        return try? AegisFormat.storedEvent(in: document)
    }

    private enum Shape {
        case aegis
        case structured
        case binary
        case batch
    }

    private func decode(
        _ value: [UInt8], headers: HeaderReader, origin: EventOrigin
    ) throws(Rejection) -> [DecodedItem] {
        let format = formats[origin.partition.topic] ?? .auto
        let declared = shape(declaredBy: headers, format: format)
        if declared == .binary {
            return [try BinaryCloudEvent(headers: headers, origin: origin, limits: limits).item(value)]
        }
        let document = try scan(value)
        guard let root = document.nodes.first else { throw .malformed("there are no bytes") }
        switch (root.kind, declared) {
        case (.object, .batch?):
            throw .malformed("a CloudEvents batch must be an array")
        case (.object, _):
            return [
                item(in: document, at: 0, shape: declared ?? guessedShape(of: document, at: 0, format), headers, origin)
            ]
        case (.array, .batch?):
            return elements(of: document, shape: .structured, headers, origin)
        case (.array, nil) where format != .aegis:
            return elements(of: document, shape: format == .cloudevents ? .structured : nil, headers, origin)
        case (.array, _), (.string, _), (.number, _), (.true, _), (.false, _), (.null, _):
            throw .malformed("the value is \(root.kind.words), not an object")
        }
    }

    private func scan(_ value: [UInt8]) throws(Rejection) -> EventData {
        do throws(JSONFault) {
            return try JSONScanner.scan(value, limits: JSONLimits(bytes: limits.valueBytes, depth: limits.depth))
        } catch {
            throw .malformed(error.description)
        }
    }

    /// What the headers say; nil where they say nothing.
    private func shape(declaredBy headers: HeaderReader, format: EventFormat) -> Shape? {
        if let type = headers.contentType {
            if type.hasPrefix("application/cloudevents-batch") { return .batch }
            if type.hasPrefix("application/cloudevents") { return .structured }
        }
        // One stray header does not make a CloudEvent of what is configured as something else.
        let needed = format == .aegis ? ["ce_specversion", "ce_type", "ce_source", "ce_id"] : ["ce_specversion"]
        return needed.allSatisfy(headers.has) ? .binary : nil
    }

    private func guessedShape(of document: EventData, at index: Int, _ format: EventFormat) -> Shape {
        switch format {
        case .aegis: return .aegis
        case .cloudevents: return .structured
        case .auto:
            let fields = ObjectReader(document, at: index)
            return fields.has("specversion") && fields.has("type") ? .structured : .aegis
        }
    }

    /// - Parameter shape: Nil looks at each element.
    private func elements(
        of document: EventData, shape: Shape?, _ headers: HeaderReader, _ origin: EventOrigin
    ) -> [DecodedItem] {
        var items: [DecodedItem] = []
        for (position, index) in document.children(at: 0).enumerated() {
            let kind = document.nodes[index].kind
            guard kind == .object else {
                items.append(.rejected(.malformed("element \(position) is \(kind.words), not an object")))
                continue
            }
            let elementShape = shape ?? guessedShape(of: document, at: index, .auto)
            items.append(item(in: document, at: index, shape: elementShape, headers, origin.element(position)))
        }
        return items.isEmpty ? [.ignored(.noRecipient)] : items
    }

    private func item(
        in document: EventData, at index: Int, shape: Shape, _ headers: HeaderReader, _ origin: EventOrigin
    ) -> DecodedItem {
        do throws(Rejection) {
            switch shape {
            case .aegis:
                return try AegisFormat(headers: headers, origin: origin, limits: limits).item(in: document, at: index)
            case .structured, .batch, .binary:
                return try StructuredCloudEvent(headers: headers, origin: origin, limits: limits)
                    .item(in: document, at: index)
            }
        } catch {
            return .rejected(error)
        }
    }
}

/// Where an event was found, for what it does not say of itself.
struct EventOrigin {
    let partition: TopicPartition
    let offset: Int64
    let timestamp: UnixTime
    /// The place in a record of several events.
    private var index: Int?

    init(record: KafkaRecord, partition: TopicPartition) {
        self.partition = partition
        offset = record.offset
        timestamp = record.timestamp
    }

    func element(_ index: Int) -> EventOrigin {
        var element = self
        element.index = index
        return element
    }

    /// The id of an event that has none: the same whenever the record is read again.
    var fallbackID: String {
        let place = "\(partition.topic)-\(partition.partition)-\(offset)"
        return index.map { "\(place)-\($0)" } ?? place
    }
}

extension Rejection {
    static func malformed(_ reason: String) -> Rejection {
        Rejection(kind: .malformed, stage: .decode, reason: reason)
    }

    static func recipient(_ reason: String) -> Rejection {
        Rejection(kind: .recipient, stage: .decode, reason: reason)
    }
}

extension EventData.Kind {
    /// With its article, for a sentence.
    var words: String {
        switch self {
        case .object: "an object"
        case .array: "an array"
        case .string: "a text"
        case .number: "a number"
        case .true, .false: "a boolean"
        case .null: "null"
        }
    }
}
