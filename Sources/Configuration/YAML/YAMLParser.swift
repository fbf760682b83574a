internal import CYAML

/// What libyaml reports of a document, one after the other.
enum YAMLEvent {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias(name: String)
    case scalar(text: String, isPlain: Bool, anchor: String?, tag: String?)
    case sequenceStart(anchor: String?, tag: String?)
    case sequenceEnd
    case mappingStart(anchor: String?, tag: String?)
    case mappingEnd
}

/// Why libyaml stopped.
struct YAMLSyntaxError: Error {
    let mark: YAMLMark
    let message: String
}

/// Owns one `yaml_parser_t` and a copy of its input: set up by `init`, deleted exactly once by `deinit`.
///
/// The parser stays at one address, since libyaml keeps pointers into it.
@safe struct YAMLParser: ~Copyable {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    /// - Throws: ``YAMLSyntaxError`` when memory is short.
    init(_ bytes: [UInt8]) throws(YAMLSyntaxError) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        unsafe parser.initialize(to: yaml_parser_t())
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            throw YAMLSyntaxError(mark: YAMLMark(line: 1, column: 1), message: "not enough memory")
        }
        // libyaml takes no empty buffer, so one byte is always there.
        let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = unsafe input.initialize(from: bytes)
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
        unsafe self.parser = parser
        unsafe self.input = input
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// The next event with the place it begins at.
    ///
    /// After the end of the stream it is not asked again.
    mutating func next() throws(YAMLSyntaxError) -> (event: YAMLEvent, mark: YAMLMark) {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        defer { unsafe yaml_event_delete(&event) }
        let mark = unsafe YAMLMark(event.start_mark)
        switch unsafe event.type {
        case YAML_STREAM_START_EVENT: return (.streamStart, mark)
        case YAML_DOCUMENT_START_EVENT: return (.documentStart, mark)
        case YAML_DOCUMENT_END_EVENT: return (.documentEnd, mark)
        case YAML_ALIAS_EVENT: return (.alias(name: unsafe Self.text(event.data.alias.anchor) ?? ""), mark)
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let value = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return unsafe (
                .scalar(
                    text: String(decoding: value, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
                    anchor: Self.text(scalar.anchor), tag: Self.text(scalar.tag)),
                mark
            )
        case YAML_SEQUENCE_START_EVENT:
            let start = unsafe event.data.sequence_start
            return unsafe (.sequenceStart(anchor: Self.text(start.anchor), tag: Self.text(start.tag)), mark)
        case YAML_SEQUENCE_END_EVENT: return (.sequenceEnd, mark)
        case YAML_MAPPING_START_EVENT:
            let start = unsafe event.data.mapping_start
            return unsafe (.mappingStart(anchor: Self.text(start.anchor), tag: Self.text(start.tag)), mark)
        case YAML_MAPPING_END_EVENT: return (.mappingEnd, mark)
        default: return (.streamEnd, mark)
        }
    }

    private func syntaxError() -> YAMLSyntaxError {
        var message = unsafe Self.text(parser.pointee.problem) ?? "not YAML"
        if let context = unsafe Self.text(parser.pointee.context) { message += " \(context)" }
        // The reader fails before it has a mark: it knows the byte alone.
        guard unsafe parser.pointee.error != YAML_READER_ERROR else {
            let offset = unsafe min(parser.pointee.problem_offset, input.count)
            let lines = unsafe input[..<offset].count { $0 == UInt8(ascii: "\n") }
            return YAMLSyntaxError(mark: YAMLMark(line: lines + 1, column: 1), message: message)
        }
        return unsafe YAMLSyntaxError(mark: YAMLMark(parser.pointee.problem_mark), message: message)
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }

    private static func text(_ pointer: UnsafeMutablePointer<UInt8>?) -> String? {
        unsafe pointer.map { unsafe String(cString: $0) }
    }
}

extension YAMLMark {
    /// libyaml counts from 0.
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(clamping: mark.line) &+ 1, column: Int(clamping: mark.column) &+ 1)
    }
}
