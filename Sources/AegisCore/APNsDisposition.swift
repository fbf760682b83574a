/// What an answer of APNs means for the notification, the device, the connection and the app: one table for all four.
package struct APNsDisposition: Hashable, Sendable {
    package enum Notification: Hashable, Sendable {
        case accepted
        /// Never sent again; goes to the dead letters.
        case deadLetter
        /// Ends as `pruned`: the device is gone.
        case endWithDevice
        /// Again as soon as another connection is there; counts as an attempt unless certainly not processed.
        case retryNow
        /// Again later, with back-off.
        case retryLater
        /// Stays in the queue until the app's circuit lets it through; never an attempt.
        case hold
    }

    package enum Device: Hashable, Sendable {
        case keep
        /// Soft-delete what was registered before `goneAt`; without a time, whatever still has this token.
        case prune(goneAt: UnixTime?)
        case quarantine
        /// Only this token waits.
        case delay
    }

    package enum Connection: Hashable, Sendable {
        case keep
        case retire
        /// A new provider token, if the old is old enough, on a new connection.
        case renewCredential
    }

    package enum App: Hashable, Sendable {
        case none
        /// Lower the rate.
        case slow
        /// Open the circuit at once: every push will fail the same way.
        case pause
        /// Open the circuit after several distinct tokens failed so with no success between.
        case suspect
    }

    /// What an answer says about APNs as a whole, if nothing else succeeds.
    package enum ServerFault: Hashable, Sendable {
        case none
        /// It answers, with faults of its own.
        case answer
        /// It does not answer: a lost connection, a reset stream, a deadline.
        case silence
    }

    package var notification: Notification
    package var device: Device
    package var connection: Connection
    package var app: App
    /// Whether it says something about this notification or device, and so uses up one of its attempts.
    package var countsAsAttempt: Bool
    /// Whether an operator is told: our bug or our configuration.
    package var alerts: Bool

    package init(
        notification: Notification, device: Device = .keep, connection: Connection = .keep, app: App = .none,
        countsAsAttempt: Bool, alerts: Bool = false
    ) {
        self.notification = notification
        self.device = device
        self.connection = connection
        self.app = app
        self.countsAsAttempt = countsAsAttempt
        self.alerts = alerts
    }

    package var serverFault: ServerFault {
        switch notification {
        case .retryLater: device == .keep ? .answer : .none
        // What was certainly not processed is a matter of the connection alone.
        case .retryNow: countsAsAttempt ? .silence : .none
        case .accepted, .deadLetter, .endWithDevice, .hold: .none
        }
    }
}
