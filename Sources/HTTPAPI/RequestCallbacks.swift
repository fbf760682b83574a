import AegisPorts
import CMicroHTTPD
import Glibc

/// What libmicrohttpd calls, on its own thread: copies, decides, returns.
///
/// The context of each is an ``ExchangeRegistry`` that ``HTTPServer`` keeps alive until the library has stopped.
enum RequestCallbacks {
    /// Paths and queries stay as they were sent: decoding whole would turn an encoded slash into a separator.
    static let keepEncoded:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?
        ) -> Int = { _, _, text in
            guard let text = unsafe text else { return 0 }
            return unsafe strlen(text)
        }

    /// Called for each connection before its first byte is read, and again before it is closed.
    static let connection:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_ConnectionNotificationCode
        ) -> Void = { context, connection, _, event in
            guard let context = unsafe context, let connection = unsafe connection else { return }
            let registry = unsafe Unmanaged<ExchangeRegistry>.fromOpaque(context).takeUnretainedValue()
            let id = unsafe ConnectionTable.ConnectionID(connection)
            guard event == .CONNECTION_NOTIFY_STARTED else { return registry.connections.closed(id) }
            let descriptor = unsafe aegis_mhd_descriptor(connection)
            guard descriptor >= 0 else { return }
            if registry.connections.opened(id, descriptor: descriptor) {
                registry.router.service.log.warning(
                    "HTTP API is full: connections that wait longest give way",
                    ["limit": .number(Int64(registry.connections.limit))])
            }
        }

    /// Called first with the headers, then with each part of the body, then without one, and again after every resumption.
    static let access: MHD_AccessHandlerCallback = {
        context, connection, url, method, _, part, partSize, exchangeSlot in
        guard let context = unsafe context, let connection = unsafe connection, let partSize = unsafe partSize,
            let exchangeSlot = unsafe exchangeSlot
        else { return .NO }
        let registry = unsafe Unmanaged<ExchangeRegistry>.fromOpaque(context).takeUnretainedValue()
        guard let stored = unsafe exchangeSlot.pointee else {
            guard let url = unsafe url, let method = unsafe method else { return .NO }
            let exchange = unsafe begin(
                registry, connection, method: String(cString: method),
                path: Array(
                    UnsafeBufferPointer(
                        start: url, count: strlen(url)
                    ).map { UInt8(bitPattern: $0) }))
            unsafe registry.connections.startedRequest(ConnectionTable.ConnectionID(connection))
            // Given back in `completed`, which the library calls once for each request it has shown here.
            unsafe exchangeSlot.pointee = Unmanaged.passRetained(exchange).toOpaque()
            guard let length = unsafe header("Content-Length", of: connection).flatMap({ Int($0) }),
                length > Exchange.discardLimit
            else { return .YES }
            // Too much to read and drop: answer now; the library closes the connection.
            return unsafe send(Problem.tooLarge(limit: registry.settings.bodyLimit).response, on: connection)
        }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(stored).takeUnretainedValue()
        let size = unsafe partSize.pointee
        if size > 0 {
            unsafe partSize.pointee = 0
            // Drops of a body that never ends keep no connection.
            let age = exchange.startedAt.duration(to: registry.clock.uptime())
            let mayGoOn = unsafe exchange.receive(UnsafeRawBufferPointer(start: part, count: size))
            return mayGoOn && age <= registry.settings.clientTimeout ? .YES : .NO
        }
        let id = unsafe ConnectionTable.ConnectionID(connection)
        switch unsafe exchange.proceed(SuspendedConnection(connection)) {
        case .suspended:
            registry.connections.startedWork(id)
            return .YES
        case .send(let response):
            registry.connections.startedAnswer(id)
            return unsafe send(response, on: connection)
        }
    }

    static let completed:
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
            MHD_RequestTerminationCode
        ) -> Void = { context, connection, exchangeSlot, reason in
            guard let context = unsafe context, let connection = unsafe connection,
                let exchangeSlot = unsafe exchangeSlot, let stored = unsafe exchangeSlot.pointee
            else { return }
            unsafe exchangeSlot.pointee = nil
            let registry = unsafe Unmanaged<ExchangeRegistry>.fromOpaque(context).takeUnretainedValue()
            unsafe registry.connections.finishedRequest(ConnectionTable.ConnectionID(connection))
            let exchange = unsafe Unmanaged<Exchange>.fromOpaque(stored).takeRetainedValue()
            registry.close(exchange, wasSent: reason == .REQUEST_TERMINATED_COMPLETED_OK)
        }

    private static func begin(
        _ registry: ExchangeRegistry, _ connection: OpaquePointer, method: String, path: [UInt8]
    ) -> Exchange {
        let admission = registry.router.admit(
            method: method, rawPath: path, authorization: unsafe header("Authorization", of: connection),
            query: { name in
                unsafe MHD_lookup_connection_value(connection, .GET_ARGUMENT_KIND, name)
                    .map { unsafe Array(String(cString: $0).utf8) }
            })
        // A method is whatever the client wrote: only known words reach the log.
        let isKnown = method == "HEAD" || Route.Method(rawValue: method) != nil
        return registry.open(method: isKnown ? method : "other", admission: admission)
    }

    private static func header(_ name: String, of connection: OpaquePointer) -> String? {
        unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { unsafe String(cString: $0) }
    }

    private static func send(_ response: Response, on connection: OpaquePointer) -> MHD_Result {
        var body = response.body
        let created = unsafe body.withUnsafeMutableBytes { bytes in
            unsafe MHD_create_response_from_buffer(bytes.count, bytes.baseAddress, .RESPMEM_MUST_COPY)
        }
        guard let created = unsafe created else { return .NO }
        // The library keeps its own reference once the response is queued.
        defer { unsafe MHD_destroy_response(created) }
        for (name, value) in response.headers {
            guard unsafe MHD_add_response_header(created, name, value) == .YES else { return .NO }
        }
        return unsafe MHD_queue_response(connection, UInt32(clamping: response.status), created)
    }
}
