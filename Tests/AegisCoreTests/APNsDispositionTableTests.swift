import AegisCore
import Testing

/// One answer and all four columns of what it means.
struct DispositionRow: Sendable, CustomTestStringConvertible {
    enum Operator: Sendable { case told, undisturbed }
    enum Attempt: Sendable { case counts, free }

    let id: String
    let answer: PushAnswer
    let expected: APNsDisposition

    init(
        _ id: String, _ status: Int, _ reason: String? = nil, timestamp: Int64? = nil,
        _ notification: APNsDisposition.Notification, _ device: APNsDisposition.Device,
        _ connection: APNsDisposition.Connection, _ app: APNsDisposition.App, _ attempt: Attempt, _ person: Operator
    ) {
        let response = APNsResponse(
            status: status, reason: reason.map(APNsReason.init),
            timestamp: timestamp.map(UnixTime.init(milliseconds:)))
        self.init(id, .response(response), notification, device, connection, app, attempt, person)
    }

    init(
        _ id: String, _ answer: PushAnswer, _ notification: APNsDisposition.Notification,
        _ device: APNsDisposition.Device, _ connection: APNsDisposition.Connection, _ app: APNsDisposition.App,
        _ attempt: Attempt, _ person: Operator
    ) {
        self.id = id
        self.answer = answer
        expected = APNsDisposition(
            notification: notification, device: device, connection: connection, app: app,
            countsAsAttempt: attempt == .counts, alerts: person == .told)
    }

    var testDescription: String { "\(id) \(answer)" }
}

@Suite struct APNsDispositionTableTests {
    static let goneAt = UnixTime(milliseconds: 1_764_504_000_123)

    // Columns: row, status, reason; notification, device, connection, app; attempt, operator.
    // One row a line, however long: it is read as a table.
    // swift-format-ignore
    static let responses: [DispositionRow] = [
        .init("R01", 200, nil, .accepted, .keep, .keep, .none, .counts, .undisturbed),
        .init("R02", 400, "BadCollapseId", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R03", 400, "BadDeviceToken", .endWithDevice, .quarantine, .keep, .none, .counts, .undisturbed),
        .init("R04", 400, "BadExpirationDate", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R05", 400, "BadMessageId", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R06", 400, "BadPriority", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R07", 400, "BadTopic", .hold, .keep, .keep, .pause, .free, .told),
        .init("R08", 400, "DeviceTokenNotForTopic", .endWithDevice, .quarantine, .keep, .none, .counts, .undisturbed),
        .init("R09", 400, "DuplicateHeaders", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R10", 400, "IdleTimeout", .retryNow, .keep, .retire, .none, .free, .undisturbed),
        .init("R11", 400, "InvalidPushType", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R12", 400, "MissingDeviceToken", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R13", 400, "MissingTopic", .hold, .keep, .keep, .pause, .free, .told),
        .init("R14", 400, "PayloadEmpty", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R15", 400, "TopicDisallowed", .deadLetter, .keep, .keep, .suspect, .counts, .told),
        .init("R16", 403, "BadCertificate", .hold, .keep, .keep, .pause, .free, .told),
        .init("R17", 403, "BadCertificateEnvironment", .hold, .keep, .keep, .pause, .free, .told),
        .init("R18", 403, "ExpiredProviderToken", .retryNow, .keep, .renewCredential, .suspect, .free, .told),
        .init("R19", 403, "Forbidden", .hold, .keep, .keep, .pause, .free, .told),
        .init("R20", 403, "InvalidProviderToken", .hold, .keep, .keep, .pause, .free, .told),
        .init("R21", 403, "MissingProviderToken", .hold, .keep, .keep, .pause, .free, .told),
        .init("R22", 403, "UnrelatedKeyIdInToken", .retryNow, .keep, .retire, .none, .free, .undisturbed),
        .init("R23", 403, "BadEnvironmentKeyIdInToken", .hold, .keep, .keep, .pause, .free, .told),
        .init("R23 alias", 403, "BadEnvironmentKeyInToken", .hold, .keep, .keep, .pause, .free, .told),
        .init("R24", 404, "BadPath", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R25", 405, "MethodNotAllowed", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R26", 410, "ExpiredToken", .endWithDevice, .prune(goneAt: nil), .keep, .none, .counts, .undisturbed),
        .init("R26 timed", 410, "ExpiredToken", timestamp: goneAt.milliseconds, .endWithDevice, .prune(goneAt: goneAt), .keep, .none, .counts, .undisturbed),
        .init("R27", 410, "Unregistered", timestamp: goneAt.milliseconds, .endWithDevice, .prune(goneAt: goneAt), .keep, .none, .counts, .undisturbed),
        .init("R28", 413, "PayloadTooLarge", .deadLetter, .keep, .keep, .none, .counts, .told),
        .init("R29", 429, "TooManyProviderTokenUpdates", .retryLater, .keep, .retire, .none, .free, .told),
        .init("R30", 429, "TooManyRequests", .retryLater, .delay, .keep, .none, .counts, .undisturbed),
        .init("R31", 500, "InternalServerError", .retryLater, .keep, .keep, .none, .counts, .undisturbed),
        .init("R32", 503, "ServiceUnavailable", .retryLater, .keep, .keep, .slow, .free, .undisturbed),
        .init("R32 alias", 503, "Service Unavailable", .retryLater, .keep, .keep, .slow, .free, .undisturbed),
        .init("R33", 503, "Shutdown", .retryNow, .keep, .retire, .none, .free, .undisturbed),
        .init("R34 403", 403, "BrandNewCredentialFault", .hold, .keep, .keep, .pause, .free, .told),
        .init("R34 400", 400, "BrandNewFault", .deadLetter, .keep, .keep, .suspect, .counts, .told),
        .init("R34 429", 429, "BrandNewLimit", .retryLater, .delay, .keep, .slow, .counts, .undisturbed),
        .init("R35 500", 500, "BrandNewTrouble", .retryLater, .keep, .keep, .none, .counts, .undisturbed),
        .init("R35 408", 408, nil, .retryLater, .keep, .keep, .none, .counts, .undisturbed),
        .init("R35 502", 502, nil, .retryLater, .keep, .keep, .none, .counts, .undisturbed),
        .init("R35 503", 503, nil, .retryLater, .keep, .keep, .slow, .free, .undisturbed),
        .init("R35 504", 504, nil, .retryLater, .keep, .keep, .none, .counts, .undisturbed),
        .init("R36 400", 400, nil, .deadLetter, .keep, .keep, .suspect, .counts, .told),
        .init("R36 403", 403, nil, .hold, .keep, .keep, .pause, .free, .told),
        .init("R36 410", 410, nil, timestamp: goneAt.milliseconds, .endWithDevice, .prune(goneAt: goneAt), .keep, .none, .counts, .undisturbed),
        .init("R37", 410, "BrandNewEnd", .endWithDevice, .prune(goneAt: nil), .keep, .none, .counts, .undisturbed),
    ]

    // swift-format-ignore
    static let silences: [DispositionRow] = [
        .init("T01, T04, T07, T09", .notProcessed, .retryNow, .keep, .keep, .none, .free, .undisturbed),
        .init("T03, T08", .unknown(.connectionLost), .retryNow, .keep, .retire, .none, .counts, .undisturbed),
        .init("T05", .unknown(.streamReset), .retryNow, .keep, .keep, .none, .counts, .undisturbed),
        .init("T06", .unknown(.deadline), .retryNow, .keep, .keep, .none, .counts, .undisturbed),
        .init("over the header limit", .unsendable(reason: "headers"), .deadLetter, .keep, .keep, .none, .counts, .told),
    ]

    @Test(arguments: responses + silences)
    func `every answer has one meaning for notification, device, connection and app`(row: DispositionRow) {
        #expect(APNsDisposition.of(row.answer) == row.expected)
    }

    @Test func `a known reason outweighs a status it was never seen with`() {
        let odd = APNsResponse(status: 500, reason: APNsReason("BadDeviceToken"))
        #expect(APNsDisposition.of(odd).device == .quarantine)
    }

    @Test func `an acceptance stands whatever its body says`() {
        let odd = APNsResponse(status: 200, reason: APNsReason("BadDeviceToken"))
        #expect(APNsDisposition.of(odd).notification == .accepted)
        #expect(APNsDisposition.of(odd).device == .keep)
    }

    @Test func `a reason is compared exactly and an unknown one has no entry of its own`() {
        #expect(APNsDisposition.of(APNsReason("Shutdown"))?.connection == .retire)
        #expect(APNsDisposition.of(APNsReason("shutdown")) == nil)
        #expect(APNsDisposition.of(APNsReason("")) == nil)
    }

    @Test(arguments: [-1, 0, 100, 301, 418, 599, 999, .max, .min])
    func `a status nobody expects neither ends a device nor is taken for success`(status: Int) {
        let disposition = APNsDisposition.of(APNsResponse(status: status))
        #expect(disposition.device == .keep)
        #expect(disposition.notification != .accepted)
    }

    @Test func `whatever opens a circuit at once keeps its notification and uses up no attempt`() {
        for row in Self.responses where APNsDisposition.of(row.answer).app == .pause {
            let disposition = APNsDisposition.of(row.answer)
            #expect(disposition.notification == .hold, "\(row.id)")
            #expect(disposition.device == .keep, "\(row.id)")
            #expect(!disposition.countsAsAttempt, "\(row.id)")
            #expect(disposition.alerts, "\(row.id)")
        }
    }
}
