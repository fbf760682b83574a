import AegisCore
import Testing

@Suite struct DecideTargetsTests {
    private var question: DecisionQuestion

    init() throws {
        question = try .sample()
    }

    private var target: SendTarget? { question.decision.plan?.targets.first }

    // MARK: Devices

    @Test mutating func `devices of apps and environments that are not configured are left alone`() throws {
        question.snapshot.devices = try [.sample(1, app: .chat), .sample(2, environment: .sandbox)]
        #expect(question.decision.suppression == .noDevice)
        question.apps[.shop]?.environments = [.production, .sandbox]
        #expect(question.decision.plan?.targets.map(\.device.id) == [DeviceID(2)])
        question.apps[.chat] = AppRules(id: .chat)
        #expect(question.decision.plan?.targets.map(\.device.id) == [DeviceID(1), DeviceID(2)])
        question.event.app = .chat
        #expect(question.decision.plan?.targets.map(\.device.id) == [DeviceID(1)])
    }

    @Test(arguments: PushType.allCases)
    mutating func `each push type goes to tokens of its own kind`(pushType: PushType) throws {
        question.rules.pushType = pushType
        question.snapshot.devices = try [.sample(1), .sample(2, kind: .voip), .sample(3, kind: .liveactivity)]
        let expected: Int64 =
            switch pushType {
            case .alert, .background: 1
            case .voip: 2
            case .liveactivity: 3
            }
        #expect(question.decision.plan?.targets.map(\.device.id) == [DeviceID(expected)])
    }

    @Test(arguments: Authorization.allCases)
    mutating func `an alert needs to be allowed, a background push does not`(authorization: Authorization) throws {
        var device = try Device.sample(authorization: authorization)
        device.registeredAt = question.now
        question.snapshot.devices = [device]
        if authorization.showsAlerts {
            #expect(question.decision.plan != nil)
        } else {
            #expect(question.decision.suppression == .notAuthorized)
        }
        question.rules.pushType = .background
        #expect(question.decision.plan != nil)
    }

    // MARK: Level

    @Test mutating func `a level without its entitlement is lowered`() {
        question.rules.interruptionLevel = .critical
        #expect(target?.level == .active)
        question.apps[.shop]?.hasTimeSensitive = true
        #expect(target?.level == .timeSensitive)
        question.apps[.shop]?.hasCriticalAlerts = true
        #expect(target?.level == .critical)
        question.rules.interruptionLevel = .timeSensitive
        #expect(target?.level == .timeSensitive)
        question.apps[.shop]?.hasTimeSensitive = false
        #expect(target?.level == .active)
        question.rules.interruptionLevel = .passive
        #expect(target?.level == .passive)
    }

    @Test mutating func `what quiet hours silence is passive and without sound, with its badge`() {
        question.rules.quietHours = .silence
        question.rules.interruptionLevel = .critical
        question.rules.sound = .critical(name: "siren", volume: 800)
        question.apps[.shop]?.hasCriticalAlerts = true
        question.snapshot.preferences.quietHours = .always
        #expect(target?.level == .passive)
        #expect(target?.sound == SoundRule.none)
        #expect(target?.badge == .increment)
    }

    // MARK: Sound

    @Test mutating func `a critical sound needs the entitlement, else it is an ordinary one`() {
        question.rules.sound = .critical(name: "siren", volume: 800)
        #expect(target?.sound == .named("siren"))
        question.apps[.shop]?.hasCriticalAlerts = true
        #expect(target?.sound == .critical(name: "siren", volume: 800))
    }

    @Test(arguments: BadgeMode.allCases, [true, false])
    mutating func `chat plays its sound where the server decides and the person wants it`(
        mode: BadgeMode, isWanted: Bool
    ) {
        question.rules.reason = NotificationRules.chatReason
        question.apps[.shop]?.badge = mode
        question.snapshot.preferences.playSoundChat = isWanted
        #expect(target?.sound == (mode != .client && isWanted ? .named("dm.aiff") : SoundRule.none))
    }

    @Test mutating func `a provisional device and a background push have no sound`() throws {
        question.snapshot.devices = try [.sample(authorization: .provisional)]
        #expect(target?.sound == SoundRule.none)
        question.snapshot.devices = try [.sample()]
        #expect(target?.sound == .named("default"))
        question.rules.pushType = .background
        #expect(target?.sound == SoundRule.none)
    }

    // MARK: Badge

    @Test mutating func `only apps whose badge the server keeps are counted`() throws {
        question.apps = [.shop: AppRules(id: .shop), .chat: AppRules(id: .chat, badge: .client)]
        question.snapshot.devices = try [.sample(1, app: .chat), .sample(2), .sample(3)]
        let plan = try #require(question.decision.plan)
        #expect(plan.badgeApps == [.shop])
        #expect(plan.targets.map(\.badge) == [.none, .increment, .increment])
        question.apps[.shop]?.badge = .off
        #expect(question.decision.plan?.badgeApps == [])
    }

    @Test mutating func `a badge that is kept or absent, or of a background push, counts nothing`() {
        question.rules.badge = .keep
        #expect(question.decision.plan?.badgeApps == [])
        #expect(target?.badge == .keep)
        question.rules.badge = .increment
        question.rules.pushType = .background
        #expect(question.decision.plan?.badgeApps == [])
        #expect(target?.badge == BadgeRule.none)
    }

    @Test mutating func `an App Clip is shown alerts for eight hours after it registered`() throws {
        var device = try Device.sample(1, authorization: .ephemeral)
        device.registeredAt = .noon - .hours(8)
        question.snapshot.devices = [device]
        #expect(question.decision.plan != nil)
        device.registeredAt = .noon - .hours(8) - .minutes(1)
        question.snapshot.devices = [device]
        #expect(question.decision.suppression == .notAuthorized)
    }
}
