internal import CLinux
package import Wire

/// A TCP connection, non-blocking, closed on deinit.
package struct StreamSocket: ~Copyable {
    /// -1 for none.
    package let descriptor: Int32

    /// Timeouts and buffer limits of a connection.
    package struct TCPOptions: Sendable {
        /// TCP_USER_TIMEOUT: the connection fails when sent bytes stay unacknowledged for this long.
        package var unacknowledgedMilliseconds: Int32 = 30_000
        /// TCP_KEEPIDLE: probe the peer after this many seconds of silence.
        package var keepaliveSeconds: Int32 = 60
        /// TCP_NOTSENT_LOWAT: the kernel buffers no more unsent bytes, which would be too old for a call.
        package var unsentByteCount: Int32 = 128 * 1024

        package init() {}
    }

    package enum Received: Hashable {
        case bytes(Int)
        case nothing
        /// The peer closed its side.
        case end
        case broken
    }

    /// No connection.
    package static var none: StreamSocket { StreamSocket(adopting: -1) }

    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Begins to connect from `local`, whose port may be shared with a listener that uses SO_REUSEPORT. When the socket
    /// becomes writable, `isConnected` tells whether it succeeded. nil when it failed at once.
    package static func connecting(from local: TransportAddress, to remote: TransportAddress) -> StreamSocket? {
        let opened = clinux_stream_socket(local.address.family == .ipv6 ? AF_INET6 : AF_INET)
        guard opened >= 0 else { return nil }
        let socket = StreamSocket(adopting: opened)
        set(opened, SOL_SOCKET, SO_REUSEADDR, 1)
        set(opened, SOL_SOCKET, SO_REUSEPORT, 1)
        var source = SocketAddress(local)
        let isBound = withUnsafePointer(to: &source.storage) { pointer in
            UnsafeRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(opened, $0, source.byteCount) == 0
            }
        }
        guard isBound else { return nil }
        var target = SocketAddress(remote)
        guard clinux_connect(opened, &target.storage, target.byteCount) == 0 || clinux_errno() == EINPROGRESS else {
            return nil
        }
        return socket
    }

    /// Whether the connection attempt succeeded.
    package var isConnected: Bool {
        clinux_pending_error(descriptor) == 0
    }

    /// Releases the descriptor without closing it.
    package consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Sets the options: small packets are sent at once, and a dead peer is detected.
    package func prepare(_ options: TCPOptions) {
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, options.unacknowledgedMilliseconds)
        set(descriptor, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, options.unsentByteCount)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPIDLE, options.keepaliveSeconds)
        set(descriptor, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    }

    package func receive(into target: UnsafeMutableRawBufferPointer) -> Received {
        guard !target.isEmpty else { return .nothing }
        while true {
            let count = clinux_read(descriptor, target.baseAddress, UInt(bitPattern: target.count))
            if count > 0 { return .bytes(min(Int(count), target.count)) }
            if count == 0 { return .end }
            let failure = clinux_errno()
            if failure == EINTR { continue }
            return failure == EAGAIN ? .nothing : .broken
        }
    }

    /// How many bytes the kernel took: 0 when its buffer is full, nil when the connection is broken.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard !bytes.isEmpty else { return 0 }
        while true {
            let count = clinux_write(descriptor, bytes.baseAddress, UInt(bitPattern: bytes.count))
            if count >= 0 { return min(Int(count), bytes.count) }
            let failure = clinux_errno()
            if failure == EINTR { continue }
            return failure == EAGAIN ? 0 : nil
        }
    }

    /// Closes the sending side, after everything that was sent.
    package func endSending() {
        _ = clinux_end_sending(descriptor)
    }
}

/// A listening TCP socket, non-blocking, closed on deinit.
package struct StreamListener: ~Copyable {
    package let descriptor: Int32
    private static let backlog: Int32 = 1024

    package enum Accepted: ~Copyable {
        case connection(StreamSocket, remote: TransportAddress)
        case nothing
        /// No descriptors or memory: the connection stays in the backlog.
        case shortage
    }

    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Opens, binds and listens. Port 0 lets the kernel choose.
    package init(_ address: TransportAddress, _ sharing: DatagramSocket.Sharing) throws(DatagramSocket.Failure) {
        let isIPv6 = address.address.family == .ipv6
        let opened = clinux_stream_socket(isIPv6 ? AF_INET6 : AF_INET)
        guard opened >= 0 else { throw DatagramSocket.Failure(code: clinux_errno()) }
        // Connections of an earlier process that linger in the kernel do not hold the port.
        set(opened, SOL_SOCKET, SO_REUSEADDR, 1)
        if sharing == .reusePort { set(opened, SOL_SOCKET, SO_REUSEPORT, 1) }
        if isIPv6 { set(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        var target = SocketAddress(address)
        let status = withUnsafePointer(to: &target.storage) { pointer in
            UnsafeRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(opened, $0, target.byteCount)
            }
        }
        guard status == 0, listen(opened, Self.backlog) == 0 else {
            let failure = DatagramSocket.Failure(code: clinux_errno())
            close(opened)
            throw failure
        }
        descriptor = opened
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Releases the descriptor without closing it.
    package consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// The address to which the socket is bound.
    package var address: TransportAddress? {
        boundAddress(of: descriptor)
    }

    /// The next waiting connection.
    package func accept() -> Accepted {
        while true {
            var name = sockaddr_in6()
            let descriptor = clinux_accept(descriptor, &name)
            if descriptor >= 0 {
                let socket = StreamSocket(adopting: descriptor)
                if let remote = read(&name) { return .connection(socket, remote: remote) }
                continue
            }
            switch clinux_errno() {
            case EAGAIN: return .nothing
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .shortage
            // The client or the network gave up while it waited: the next one may be fine.
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENOPROTOOPT, ENONET,
                EOPNOTSUPP:
                continue
            default: return .nothing
            }
        }
    }
}
