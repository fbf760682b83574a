package import AegisCore
package import AegisPorts

/// How the gateway reaches APNs, and how long it waits for what.
package struct GatewaySettings: Sendable {
    /// One of Apple's hosts, or what stands in for it.
    package struct Endpoint: Hashable, Sendable {
        /// A DNS name or an address; the server's certificate must be for it.
        package var host: String
        package var port: UInt16
        /// PEM certificates to trust instead of the system's; read anew for each connection.
        package var caFile: String?

        package init(host: String, port: UInt16 = 443, caFile: String? = nil) {
            self.host = host
            self.port = port
            self.caFile = caFile
        }
    }

    package var endpoints: [AppKey: Endpoint]
    /// Who signs for an app; asked again when its credentials are reloaded.
    ///
    /// Nil is an error of configuration.
    package var signer: @Sendable (AppKey) -> (any TokenSigner)?
    /// For each app.
    package var connections = 2
    /// Threads, each with an event loop; apps are spread over them.
    package var eventLoops = 1
    /// From the hand-over of a push to its answer.
    package var requestDeadline = Duration.seconds(10)
    /// Address look-up, TCP, TLS and the peer's first SETTINGS together.
    package var connectTimeout = Duration.seconds(10)
    /// Silence after which a connection is asked for a sign of life.
    package var pingInterval = Duration.seconds(30)
    /// How long that sign may take.
    package var pingDeadline = Duration.seconds(10)
    /// The wait after the first failed connect; doubled with each further one.
    package var firstBackoff = Duration.seconds(1)
    package var longestBackoff = Duration.seconds(60)
    /// Requests at once on one connection, however many more the peer allows.
    package var maximumStreams = 1_000
    /// A connection that may have only one request at once for this long, after it could have more, is replaced.
    package var collapseTolerance = Duration.seconds(60)
    /// The highest stream id used before a connection is replaced (RFC 9113 section 5.1.1).
    package var lastStreamID: Int32 = .max - 2

    package init(endpoints: [AppKey: Endpoint], signer: @escaping @Sendable (AppKey) -> (any TokenSigner)?) {
        self.endpoints = endpoints
        self.signer = signer
    }
}
