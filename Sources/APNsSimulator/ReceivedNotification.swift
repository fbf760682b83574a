/// One request as it was received, and what became of it.
///
/// - Secret: it holds a device token and a payload; ``description`` shows neither.
package struct ReceivedNotification: Sendable, CustomStringConvertible {
    /// One header as it came; pseudo-headers included.
    package struct Header: Sendable, Hashable, CustomStringConvertible {
        package let name: String
        package let value: String

        package var description: String { name }
    }

    /// The order in which complete requests arrived, from 1.
    package let arrival: Int
    /// The number of the connection, from 1 in the order they were opened.
    package let connection: Int
    package let streamID: Int
    package let environment: SimulatedEnvironment
    /// The `apns-id` of the answer.
    package let apnsID: String
    /// The digits of the path in lower case.
    package let token: String
    /// The topic, or the only one of the certificate; empty if there was none.
    package let topic: String
    package let headers: [Header]
    package let payload: [UInt8]
    package let status: Int
    package let reason: String?
    /// Milliseconds since 1970 on the simulator's clock.
    package let acceptedAt: Int64
    /// `false` for what was delivered although the connection was reset before the answer.
    package let answered: Bool

    package var description: String { "<notification \(arrival), status \(status)>" }

    /// The first header of that name.
    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }
}

/// Figures since the start.
package struct SimulatorStats: Sendable, Equatable {
    /// A status and its reason, empty for none.
    package struct Outcome: Sendable, Hashable {
        package let status: Int
        package let reason: String
    }

    package var accepted = 0
    package var outcomes: [Outcome: Int] = [:]
    package var connectionsOpened = 0
    package var connectionsOpen = 0
    /// The most streams open at one moment, over all connections.
    package var peakStreams = 0
    /// Accepted pushes whose `apns-id` had been accepted before.
    package var duplicates = 0
    package var pingsReceived = 0
    /// Requests left without an answer on purpose.
    package var stalled = 0
    package var refusedStreams = 0
    package var failedHandshakes = 0

    package init() {}

    /// How often this was answered.
    package func count(_ status: Int, _ reason: String = "") -> Int {
        outcomes[Outcome(status: status, reason: reason)] ?? 0
    }
}
