/// What APNs looks at in a request, in this order: method, path, authentication, headers, device token, payload.
///
/// Only "method before authentication" has been measured on the real service; the rest is our order.
struct RequestChecks {
    static let devicePath: StaticString = "/3/device/"

    let options: SimulatorOptions

    /// What the connection remembers from one request to the next.
    struct ConnectionFacts {
        let environment: SimulatedEnvironment
        let certificate: ClientCertificate?
        var authentication: ProviderAuthentication
        /// The last topic seen: nearly all requests of a connection have the same.
        fileprivate var topicBytes: [UInt8] = []
        fileprivate var topic: Topic?

        init(environment: SimulatedEnvironment, certificate: ClientCertificate?) {
            self.environment = environment
            self.certificate = certificate
            authentication = ProviderAuthentication()
        }
    }

    /// The first thing wrong with the request, or `nil`.
    ///
    /// Fills in what the answer and the log need.
    func firstFault(
        in request: Request, on facts: inout ConnectionFacts, keys: ProviderKeyring, at now: Int64,
        using generator: inout SeededGenerator
    ) -> Rejection? {
        let idFault = identify(request, using: &generator)
        if options.sink { return nil }
        if request.headersTooLarge { return .headersTooLarge }
        guard let path = request.value(.path), path.starts(with: Self.devicePath) else { return .badPath }
        guard let method = request.value(.method), method.equals("POST") else { return .methodNotAllowed }
        if let fault = authenticate(request, on: &facts, keys: keys, at: now) { return fault }
        if request.repeatsHeader { return .duplicateHeaders }
        if let idFault { return idFault }
        let pushType: PushType?
        if let value = request.value(.pushType) {
            guard let known = PushType(value) else { return .invalidPushType }
            pushType = known
        } else {
            pushType = nil
        }
        if let fault = headerFault(in: request, pushType: pushType) { return fault }
        if let fault = topicFault(in: request, pushType: pushType, on: &facts) { return fault }
        if let fault = tokenFault(in: request) { return fault }
        return payloadFault(in: request, pushType: pushType)
    }

    /// Takes over the request's id or makes one; an id that is no UUID is answered with a made one.
    private func identify(_ request: Request, using generator: inout SeededGenerator) -> Rejection? {
        guard let value = request.value(.messageID) else {
            request.answerID = generator.uuidText()
            return nil
        }
        guard let id = MessageID(value) else {
            request.answerID = generator.uuidText()
            return .badMessageID
        }
        request.messageID = id
        request.answerID.append(contentsOf: value)
        return nil
    }

    private func authenticate(
        _ request: Request, on facts: inout ConnectionFacts, keys: ProviderKeyring, at now: Int64
    ) -> Rejection? {
        if let certificate = facts.certificate {
            return certificate.isValid(in: facts.environment) ? nil : .badCertificateEnvironment
        }
        return facts.authentication.check(
            request.value(.authorization), environment: facts.environment, keys: keys, options: options, at: now)
    }

    private func headerFault(in request: Request, pushType: PushType?) -> Rejection? {
        if let value = request.value(.expiration), DecimalInteger.value(of: value) == nil { return .badExpirationDate }
        if let value = request.value(.priority) {
            let isTen = value.equals("10")
            guard isTen || value.equals("5") || value.equals("1") else { return .badPriority }
            if isTen, pushType == .background, let reason = options.backgroundPriorityReason {
                return Rejection(400, reason)
            }
        }
        if let value = request.value(.collapseID) {
            guard value.count <= 64, !value.isEmpty || options.acceptEmptyCollapseID else { return .badCollapseID }
        }
        return nil
    }

    private func topicFault(
        in request: Request, pushType: PushType?, on facts: inout ConnectionFacts
    ) -> Rejection? {
        let topic: Topic
        if let value = request.value(.topic), !value.isEmpty {
            if let last = facts.topic, value.equals(facts.topicBytes) {
                topic = last
            } else {
                guard Topic.isWellFormed(value) else { return .badTopic }
                topic = Topic(String(decoding: value, as: UTF8.self))
                facts.topicBytes = Array(value)
                facts.topic = topic
            }
        } else if let only = facts.certificate?.onlyTopic {
            topic = Topic(only)
        } else {
            return .missingTopic
        }
        request.topic = topic
        if let pushType, !topic.fits(pushType) { return .invalidPushType }
        if let certificate = facts.certificate {
            return certificate.topics.contains(topic.text) ? nil : .topicDisallowed
        }
        return facts.authentication.permits(topic) ? nil : .topicDisallowed
    }

    /// Hex of either case and even length; Apple fixes no length, the upper bound is ours.
    private func tokenFault(in request: Request) -> Rejection? {
        let token = request.deviceToken
        if token.isEmpty { return .missingDeviceToken }
        guard token.count % 2 == 0, token.count <= 512, token.allSatisfy({ HexDigit.value(of: $0) != nil }) else {
            return .badDeviceToken
        }
        return nil
    }

    private func payloadFault(in request: Request, pushType: PushType?) -> Rejection? {
        if request.payloadSize == 0 { return .payloadEmpty }
        let limit = (pushType ?? request.topic?.suffixType ?? .alert).payloadLimit
        return request.payloadSize > limit ? .payloadTooLarge : nil
    }
}

/// Decimal digits with an optional sign, and nothing else.
enum DecimalInteger {
    static func value(of text: ArraySlice<UInt8>) -> Int64? {
        var digits = text
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { digits = digits.dropFirst() }
        guard !digits.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return isNegative ? -value : value
    }
}
