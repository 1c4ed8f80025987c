internal import CLinux
package import Wire

/// An ICMP error, or an equivalent local error, for a datagram that could not be delivered.
package struct SendingError: Hashable, Sendable {
    /// The destination of the datagram.
    package let destination: TransportAddress
    /// The type and code of the ICMP or ICMPv6 message.
    package let type: UInt8
    package let code: UInt8
    /// The MTU, if the datagram was too big.
    package let mtu: UInt32
}

extension DatagramSocket {
    /// Enables the error queue for `readErrors`. Without it Linux discards ICMP errors; with it the next call on the
    /// socket fails with the error, which `SendBatch` and `ReceiveBatch` handle.
    package func keepErrors(_ family: IPAddress.Family) {
        switch family {
        case .ipv4: set(descriptor, Int32(IPPROTO_IP), IP_RECVERR, 1)
        case .ipv6: set(descriptor, Int32(IPPROTO_IPV6), IPV6_RECVERR, 1)
        }
    }

    /// Whether datagrams are sent with the DF bit; over IPv6, whether this machine may fragment them. The kernel's
    /// cached path MTU is not used: the sender gets the path's response to this very packet.
    package func forbidFragments(_ isForbidden: Bool, _ family: IPAddress.Family) {
        switch family {
        case .ipv4:
            set(
                descriptor, Int32(IPPROTO_IP), IP_MTU_DISCOVER,
                isForbidden ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT)
        case .ipv6:
            set(
                descriptor, Int32(IPPROTO_IPV6), IPV6_MTU_DISCOVER,
                isForbidden ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DONT)
        }
    }

    /// Calls `body` with at most `limit` errors from the error queue.
    package func readErrors(limit: Int, _ body: (SendingError) -> Void) {
        for _ in 0..<limit {
            var error = clinux_error()
            let status = clinux_receive_error(descriptor, &error)
            guard status >= 0 else { return }
            if status > 0, let failure = SendingError(&error) { body(failure) }
        }
    }
}

extension SendingError {
    fileprivate init?(_ error: inout clinux_error) {
        guard let destination = withUnsafePointer(to: &error.destination, { read($0) }) else { return nil }
        self.destination = destination
        mtu = error.mtu
        if error.is_local != 0 {
            // The datagram exceeds the MTU of the first link: report it as a router would.
            guard error.code_of_system == EMSGSIZE else { return nil }
            switch destination.address.family {
            case .ipv4: (type, code) = (3, 4)
            case .ipv6: (type, code) = (2, 0)
            }
        } else {
            (type, code) = (error.type, error.code)
        }
    }
}
