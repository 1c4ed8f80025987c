internal import CLinux
package import Wire

/// A UDP or TCP socket that is connected to a server, for a client that blocks for responses.
///
/// A connected UDP socket reports ICMP errors too: a closed port gives `refused` instead of a timeout.
package struct ClientSocket: ~Copyable {
    package let descriptor: Int32
    /// This end's address.
    package let local: TransportAddress
    private let kind: Kind

    package enum Failure: Error, Hashable {
        /// Nothing listens there.
        case refused
        case unreachable
        case timedOut
        /// The other side ended the connection.
        case closed
        case other(String)
    }

    package enum Kind {
        case datagram
        case stream
    }

    package init(
        _ kind: Kind, to server: TransportAddress, from address: IPAddress? = nil, milliseconds: Int32
    ) throws(Failure) {
        let domain = server.address.family == .ipv6 ? AF_INET6 : AF_INET
        let opened = clinux_client_socket(domain, kind == .stream ? 1 : 0)
        guard opened >= 0 else { throw Self.failure(clinux_errno()) }
        do throws(Failure) {
            if let address { try Self.bind(opened, address) }
            try Self.connect(opened, server, milliseconds: milliseconds)
            guard let local = Self.address(of: opened) else { throw Failure.other("no address of this end") }
            self.local = local
            self.kind = kind
            descriptor = opened
        } catch {
            close(opened)
            throw error
        }
    }

    deinit {
        close(descriptor)
    }

    /// Has the connection reset when it is closed, which a server notices at once even in the middle of a response.
    package func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Releases the descriptor without closing it.
    package consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Sends all bytes, waiting for buffer space on a stream.
    package func send(_ bytes: [UInt8], milliseconds: Int32) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                clinux_client_send(descriptor, buffer.baseAddress.map { $0 + sent }, UInt(buffer.count - sent))
            }
            if count > 0 {
                sent += count
                continue
            }
            let code = clinux_errno()
            if code == EINTR { continue }
            guard code == EAGAIN else { throw Self.failure(code) }
            guard clinux_poll(descriptor, 1, milliseconds) > 0 else { throw .timedOut }
        }
    }

    /// Waits for bytes; nil on timeout.
    package func receive(milliseconds: Int32) throws(Failure) -> [UInt8]? {
        guard clinux_poll(descriptor, 0, max(0, milliseconds)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = bytes.withUnsafeMutableBytes { clinux_client_receive(descriptor, $0.baseAddress, UInt($0.count)) }
        guard count >= 0 else {
            let code = clinux_errno()
            if code == EAGAIN || code == EINTR { return nil }
            throw Self.failure(code)
        }
        guard count > 0 || kind == .datagram else { throw .closed }
        bytes.removeSubrange(min(count, bytes.count)...)
        return bytes
    }

    private static func bind(_ descriptor: Int32, _ address: IPAddress) throws(Failure) {
        let status = withKernelAddress(TransportAddress(address, port: 0)) { CLinux.bind(descriptor, $0, $1) }
        guard status == 0 else { throw failure(clinux_errno()) }
    }

    private static func connect(_ descriptor: Int32, _ server: TransportAddress, milliseconds: Int32) throws(Failure) {
        guard withKernelAddress(server, { CLinux.connect(descriptor, $0, $1) }) != 0 else { return }
        guard clinux_errno() == EINPROGRESS else { throw failure(clinux_errno()) }
        guard clinux_poll(descriptor, 1, milliseconds) > 0 else { throw .timedOut }
        var code: Int32 = 0
        var size = UInt32(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { throw failure(code) }
    }

    private static func address(of descriptor: Int32) -> TransportAddress? {
        var storage = sockaddr_in6()
        var count = UInt32(MemoryLayout<sockaddr_in6>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            UnsafeMutableRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &count)
            }
        }
        return status == 0 ? read(&storage) : nil
    }

    private static func withKernelAddress<Result>(
        _ address: TransportAddress, _ body: (UnsafePointer<sockaddr>, UInt32) -> Result
    ) -> Result {
        var target = SocketAddress(address)
        return withUnsafePointer(to: &target.storage) { pointer in
            UnsafeRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, target.byteCount) }
        }
    }

    private static func failure(_ code: Int32) -> Failure {
        switch code {
        case ECONNREFUSED: .refused
        case EHOSTUNREACH, ENETUNREACH, EACCES, EPERM: .unreachable
        case ETIMEDOUT: .timedOut
        case ECONNRESET, EPIPE: .closed
        default: .other(String(cString: strerror(code)))
        }
    }
}
