/// An app's bundle id, which is also the stem of its APNs topics.
package struct AppID: ExactText, Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { text }
}

/// Which of Apple's two worlds issued a token; a token of one is unknown in the other.
package enum PushEnvironment: String, Hashable, Sendable, CaseIterable {
    case production
    case sandbox
}

/// One app in one environment: the unit of connections, circuits and rate.
package struct AppKey: Hashable, Sendable, CustomStringConvertible {
    package let app: AppID
    package let environment: PushEnvironment

    package init(app: AppID, environment: PushEnvironment) {
        self.app = app
        self.environment = environment
    }

    package var description: String { "\(app.text) (\(environment.rawValue))" }
}
