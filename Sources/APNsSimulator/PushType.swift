/// The values of `apns-push-type` and the topic each wants.
///
/// Source: Apple, "Sending notification requests to APNs".
enum PushType: CaseIterable, Sendable {
    case alert, background, liveActivity, voip, complication, fileProvider, location, pushToTalk, widgets, controls, mdm

    var name: StaticString {
        switch self {
        case .alert: "alert"
        case .background: "background"
        case .liveActivity: "liveactivity"
        case .voip: "voip"
        case .complication: "complication"
        case .fileProvider: "fileprovider"
        case .location: "location"
        case .pushToTalk: "pushtotalk"
        case .widgets: "widgets"
        case .controls: "controls"
        case .mdm: "mdm"
        }
    }

    /// What follows the bundle id in the topic; empty where the topic is the bundle id itself.
    var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .liveActivity: ".push-type.liveactivity"
        case .voip: ".voip"
        case .complication: ".complication"
        case .fileProvider: ".pushkit.fileprovider"
        case .location: ".location-query"
        case .pushToTalk: ".voip-ptt"
        case .widgets: ".push-type.widgets"
        case .controls: ".push-type.controls"
        }
    }

    /// Bytes of the body, the limit itself included.
    var payloadLimit: Int {
        self == .voip ? 5120 : 4096
    }

    init?(_ value: ArraySlice<UInt8>) {
        for candidate in PushType.allCases where value.equals(candidate.name) {
            self = candidate
            return
        }
        return nil
    }
}

/// A topic taken apart: the bundle id and which suffix it carries.
struct Topic: Sendable {
    let text: String
    /// The bundle id, which a provider key or certificate is entitled to.
    let bundleID: String
    /// The push type whose suffix the topic ends in; `nil` for a plain topic.
    let suffixType: PushType?

    init(_ text: String) {
        self.text = text
        for type in PushType.allCases {
            let suffix = type.topicSuffix
            guard !suffix.isEmpty, text.hasSuffix(suffix), text.utf8.count > suffix.utf8.count else { continue }
            bundleID = String(text.dropLast(suffix.count))
            suffixType = type
            return
        }
        bundleID = text
        suffixType = nil
    }

    /// Whether a push of this type may go to the topic.
    ///
    /// An MDM topic is the certificate's own and fits no rule.
    func fits(_ type: PushType) -> Bool {
        switch type {
        case .mdm: true
        case .alert, .background: suffixType == nil
        case .liveActivity, .voip, .complication, .fileProvider, .location, .pushToTalk, .widgets, .controls:
            suffixType == type
        }
    }

    /// Letters, digits, dots, hyphens and underscores, as bundle ids have them.
    static func isWellFormed(_ value: ArraySlice<UInt8>) -> Bool {
        value.count <= 255
            && value.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
