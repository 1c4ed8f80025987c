internal import CLinux
package import Wire

/// A bound, non-blocking UDP socket, closed on deinit.
package struct DatagramSocket: ~Copyable {
    /// -1 for none.
    package let descriptor: Int32

    package enum Sharing {
        case exclusive
        /// SO_REUSEPORT: the kernel distributes flows over all sockets of the port that set it.
        case reusePort
    }

    package struct Failure: Error, Hashable {
        /// The errno.
        package let code: Int32

        package var isPortTaken: Bool { code == EADDRINUSE }
        package var isAddressUnknown: Bool { code == EADDRNOTAVAIL }
        package var isDescriptorShortage: Bool { code == EMFILE || code == ENFILE }
        package var description: String { String(cString: strerror(code)) }
    }

    /// No socket.
    package static var none: DatagramSocket { DatagramSocket(adopting: -1) }

    /// Takes ownership of a descriptor from `release`.
    package init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Opens and binds. Port 0 lets the kernel choose.
    package init(
        _ address: TransportAddress, _ sharing: Sharing, receiveBuffer: Int32? = nil, sendBuffer: Int32? = nil
    ) throws(Failure) {
        let isIPv6 = address.address.family == .ipv6
        let opened = clinux_socket(isIPv6 ? AF_INET6 : AF_INET)
        guard opened >= 0 else { throw Failure(code: clinux_errno()) }
        if sharing == .reusePort { set(opened, SOL_SOCKET, SO_REUSEPORT, 1) }
        if isIPv6 {
            set(opened, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1)
            set(opened, Int32(IPPROTO_IPV6), IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DONT)
        } else {
            // RFC 8656 section 15: DF is not set unless the client asks for it. Linux sets it by default.
            set(opened, Int32(IPPROTO_IP), IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
        }
        if let receiveBuffer {
            set(opened, SOL_SOCKET, SO_RCVBUF, receiveBuffer)
            // Beyond the system's limit, if this process is privileged.
            set(opened, SOL_SOCKET, SO_RCVBUFFORCE, receiveBuffer)
        }
        if let sendBuffer {
            set(opened, SOL_SOCKET, SO_SNDBUF, sendBuffer)
            set(opened, SOL_SOCKET, SO_SNDBUFFORCE, sendBuffer)
        }
        var target = SocketAddress(address)
        let status = withUnsafePointer(to: &target.storage) { pointer in
            UnsafeRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(opened, $0, target.byteCount)
            }
        }
        guard status == 0 else {
            let failure = Failure(code: clinux_errno())
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

    /// The granted size of the receive buffer, in the unit of the request: Linux reports the double.
    package var receiveBuffer: Int { half(SO_RCVBUF) }
    /// The same of the send buffer.
    package var sendBuffer: Int { half(SO_SNDBUF) }

    private func half(_ option: Int32) -> Int {
        var value: Int32 = 0
        var size = UInt32(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, option, &value, &size)
        return Int(value) / 2
    }

    /// The address to which the socket is bound.
    package var address: TransportAddress? {
        boundAddress(of: descriptor)
    }

    /// Enables kernel timestamps for received datagrams, which a `ReceiveBatch` with arrivals reads. False when the
    /// kernel does not support it.
    package func stampArrivals() -> Bool {
        clinux_stamp_arrivals(descriptor) == 0
    }
}

func boundAddress(of descriptor: Int32) -> TransportAddress? {
    var storage = sockaddr_in6()
    var count = UInt32(MemoryLayout<sockaddr_in6>.size)
    let status = withUnsafeMutablePointer(to: &storage) { pointer in
        UnsafeMutableRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) {
            getsockname(descriptor, $0, &count)
        }
    }
    return status == 0 ? read(&storage) : nil
}

/// Sets an option; on failure the system's default stays, which works too.
func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, UInt32(MemoryLayout<Int32>.size))
}

/// This process's limit of open descriptors, raised as far as the system allows.
package enum DescriptorLimit {
    /// The new limit; nil when it could not be read or raised.
    package static func raise() -> Int? {
        var limit: UInt = 0
        return clinux_raise_descriptor_limit(&limit) == 0 ? Int(clamping: limit) : nil
    }
}
