package import AegisCore
import Glibc
import Runtime

/// Where the API listens, whom it lets in and what it bears.
package struct HTTPServerSettings: Sendable {
    /// A name or an address; `::` takes IPv4 as well.
    package var host: String
    /// 0 takes a free port, which ``HTTPServer/port`` tells.
    package var port: UInt16
    package var tokens: [APIToken]
    /// Beyond it, connections that keep the server waiting give way to new ones; at most half of what the process may open.
    package var connectionLimit: Int
    /// How long a connection may be silent; a request may take so long to arrive, too.
    package var clientTimeout: Duration
    /// Bytes of memory a connection may take for its request line and headers.
    package var headerLimit: Int
    /// Bytes of a body; more gets 413.
    package var bodyLimit: Int
    /// How long ``HTTPServer/stop()`` waits for open requests.
    package var drainLimit: Duration

    package init(
        host: String, port: UInt16, tokens: [APIToken], connectionLimit: Int = 1_024,
        clientTimeout: Duration = .seconds(30), headerLimit: Int = 32_768, bodyLimit: Int = 65_536,
        drainLimit: Duration = .seconds(10)
    ) {
        self.host = host
        self.port = port
        self.tokens = tokens
        self.connectionLimit = connectionLimit
        self.clientTimeout = clientTimeout
        self.headerLimit = headerLimit
        self.bodyLimit = bodyLimit
        self.drainLimit = drainLimit
    }

    /// The limit of connections, lowered where the process may open too few files to leave the other half to the rest of it.
    var connectionsBorne: Int {
        var files = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0 else { return connectionLimit }
        return max(1, min(connectionLimit, Int(clamping: files.rlim_cur) / 2))
    }
}

/// What a service may do with the API.
package enum APIScope: String, Hashable, Sendable, CaseIterable {
    case devices, preferences, events, admin
}

/// A bearer token that a service holds; never a phone.
package struct APIToken: Hashable, Sendable, CustomStringConvertible {
    /// For operators; not secret.
    package let name: String
    /// Secret.
    let secret: String
    package let scopes: Set<APIScope>
    /// The apps it is limited to; empty means all.
    package let apps: Set<AppID>

    package init(name: String, secret: String, scopes: Set<APIScope>, apps: Set<AppID> = []) {
        self.name = name
        self.secret = secret
        self.scopes = scopes
        self.apps = apps
    }

    package var description: String { "<API token \(name)>" }

    func mayUse(_ app: AppID) -> Bool {
        apps.isEmpty || apps.contains(app)
    }

    /// Takes as long for any two texts of these lengths, so that time tells nothing of the secret.
    func matches(_ presented: [UInt8]) -> Bool {
        let expected = Array(secret.utf8)
        guard !expected.isEmpty else { return false }
        var difference: UInt8 = presented.count == expected.count ? 0 : 1
        for (index, byte) in presented.enumerated() {
            difference |= byte ^ expected[index % expected.count]
        }
        return difference == 0
    }
}

/// Why the API does not listen.
package struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The host is no address of this machine, or no name that resolves.
        case address
        /// The port is taken, or not allowed.
        case bind
        /// The system or the library gave no server.
        case start
    }

    package let kind: Kind
    package let detail: String

    package var description: String { "HTTP API: \(detail)" }
}
