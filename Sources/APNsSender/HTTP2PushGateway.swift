package import AegisCore
package import AegisPorts
import Glibc
import Runtime

/// The connections to APNs over nghttp2 and OpenSSL.
///
/// A few threads (``GatewaySettings/eventLoops``) own all sockets; requests reach them in batches and answers come back
/// in batches. Connections are opened at once and kept until ``close()``, which ends the threads as well: whoever makes a
/// gateway closes it.
package final class HTTP2PushGateway: PushGateway {
    private let clock: any TimeSource
    private let signalBox = Mailbox<GatewaySignal>()
    private let inboxes: [GatewayInbox]
    private let homes: [AppKey: Int]
    private let resolver: Resolver

    /// Starts the threads and the first connects.
    ///
    /// - Throws: ``GatewayError`` of kind `configuration` when the system gives no thread or descriptor.
    package init(settings: GatewaySettings, clock: any TimeSource, log: any Log) throws(GatewayError) {
        // A peer that closes a socket is an error of the write; OpenSSL's writes would raise this signal instead.
        Glibc.signal(SIGPIPE, SIG_IGN)
        let apps = settings.endpoints.keys.sorted { $0.description < $1.description }
        let loopCount = max(1, min(settings.eventLoops, apps.count))
        self.clock = clock
        homes = Dictionary(uniqueKeysWithValues: apps.enumerated().map { ($1, $0 % loopCount) })
        do {
            resolver = try Resolver()
            var inboxes: [GatewayInbox] = []
            for index in 0..<loopCount {
                let inbox = try GatewayInbox()
                let home = apps.enumerated().filter { $0.offset % loopCount == index }.map(\.element)
                try Self.startLoop(
                    index, of: home, settings: settings, clock: clock, log: log, resolver: resolver, inbox: inbox,
                    signals: signalBox)
                inboxes.append(inbox)
            }
            self.inboxes = inboxes
        } catch {
            throw GatewayError(kind: .configuration, detail: "the system gives no more threads or files: \(error)")
        }
    }

    private static func startLoop(
        _ index: Int, of apps: [AppKey], settings: GatewaySettings, clock: any TimeSource, log: any Log,
        resolver: Resolver, inbox: GatewayInbox, signals: Mailbox<GatewaySignal>
    ) throws {
        let poller = try Poller()
        try poller.watch(inbox.wake.descriptor, as: GatewayEventLoop.wakeNumber)
        _ = try DedicatedThread(name: "apns-loop-\(index)") {
            let context = LoopContext(
                settings: settings, clock: clock, log: log, resolver: resolver, inbox: inbox, poller: poller)
            GatewayEventLoop(context: context, apps: apps, signals: signals).run()
        }
    }

    package func send(_ pushes: [Push]) {
        guard !pushes.isEmpty else { return }
        let now = clock.uptime()
        guard inboxes.count > 1 else {
            inboxes[0].put(.send(pushes, at: now))
            return
        }
        for (home, share) in Dictionary(grouping: pushes, by: { homes[$0.app] ?? 0 }) {
            inboxes[home].put(.send(share, at: now))
        }
    }

    package func signals() async -> [GatewaySignal]? {
        await signalBox.take()
    }

    package func reloadCredentials(of apps: Set<AppKey>) {
        for inbox in inboxes { inbox.put(.reload(apps)) }
    }

    package func close() async {
        for inbox in inboxes {
            await withCheckedContinuation { continuation in
                if !inbox.put(.close { continuation.resume() }) { continuation.resume() }
            }
        }
        resolver.close()
        signalBox.close()
    }
}
