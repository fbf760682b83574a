internal import COpenSSL

/// What APNs reads from a push certificate.
///
/// Source: the object identifiers Apple uses in push certificates; their values are strings of the subject and
/// extensions under 1.2.840.113635.100.6.3.
struct ClientCertificate {
    /// The subject's UID and what the topics extension lists.
    let topics: Set<String>
    private let uid: String?
    private let environments: Set<SimulatedEnvironment>
    private let listsTopics: Bool

    /// The topic of a push without one: the bundle id of a certificate that has a single one.
    var onlyTopic: String? { listsTopics ? nil : uid }

    /// A certificate that names no environment is taken for a universal one.
    func isValid(in environment: SimulatedEnvironment) -> Bool {
        environments.isEmpty || environments.contains(environment)
    }

    /// - Parameter certificate: an `X509 *` that is only read.
    init(_ certificate: OpaquePointer) {
        uid = unsafe Self.userID(of: certificate)
        var environments: Set<SimulatedEnvironment> = []
        if unsafe Self.value(of: "1.2.840.113635.100.6.3.1", in: certificate) != nil { environments.insert(.sandbox) }
        if unsafe Self.value(of: "1.2.840.113635.100.6.3.2", in: certificate) != nil {
            environments.insert(.production)
        }
        self.environments = environments
        let list = unsafe Self.value(of: "1.2.840.113635.100.6.3.6", in: certificate)
        listsTopics = list != nil
        topics = Set(Self.topics(inSequence: list ?? []) + (uid.map { [$0] } ?? []))
    }

    private static func userID(of certificate: OpaquePointer) -> String? {
        var text = [CChar](repeating: 0, count: 256)
        // X509_NAME_get_text_by_NID(3): the length without the terminator, or -1.
        let length = unsafe X509_NAME_get_text_by_NID(
            X509_get_subject_name(certificate), NID_userId, &text, Int32(text.count))
        guard length > 0 else { return nil }
        return String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func value(of identifier: String, in certificate: OpaquePointer) -> [UInt8]? {
        guard let object = unsafe OBJ_txt2obj(identifier, 1) else { return nil }
        defer { unsafe ASN1_OBJECT_free(object) }
        let place = unsafe X509_get_ext_by_OBJ(certificate, object, -1)
        guard place >= 0, let data = unsafe X509_EXTENSION_get_data(X509_get_ext(certificate, place)),
            let start = unsafe ASN1_STRING_get0_data(data)
        else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(data))))
    }

    /// A DER sequence of (UTF8String topic, SEQUENCE of kinds) pairs: the strings of its top level.
    private static func topics(inSequence der: [UInt8]) -> [String] {
        guard let outer = element(der[...]), outer.tag == 0x30 else { return [] }
        var topics: [String] = []
        var rest = outer.content
        while let next = element(rest) {
            if next.tag == 0x0C { topics.append(String(decoding: next.content, as: UTF8.self)) }
            rest = next.rest
        }
        return topics
    }

    /// The first element of definite length; X.690 section 8.1.
    private static func element(
        _ der: ArraySlice<UInt8>
    ) -> (tag: UInt8, content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
        var rest = der
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { return nil }
        var length = Int(first)
        if first & 0x80 != 0 {
            let size = Int(first & 0x7F)
            guard size > 0, size <= 3, rest.count >= size else { return nil }
            length = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(size)
        }
        guard rest.count >= length else { return nil }
        return (tag, rest.prefix(length), rest.dropFirst(length))
    }
}
