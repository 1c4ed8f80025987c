internal import CLinux
package import Wire

/// What became of a datagram that could not be delivered, as the network or this machine said.
package struct SendingError: Hashable, Sendable {
    /// Where the datagram was to go.
    package let destination: TransportAddress
    /// The ICMP or ICMPv6 message's numbers.
    package let type: UInt8
    package let code: UInt8
    /// The MTU that a datagram was too big for.
    package let mtu: UInt32
}

extension DatagramSocket {
    /// Keeps ICMP errors for `readErrors`. Without it Linux forgets them; with it the next call on the socket fails with
    /// the error, which `SendBatch` and `ReceiveBatch` know.
    package func keepErrors(_ family: IPAddress.Family) {
        switch family {
        case .ipv4: set(descriptor, Int32(IPPROTO_IP), IP_RECVERR, 1)
        case .ipv6: set(descriptor, Int32(IPPROTO_IPV6), IPV6_RECVERR, 1)
        }
    }

    /// Whether datagrams leave with the DF bit; over IPv6, whether this machine may fragment them. The path's MTU that
    /// the kernel remembers is not asked: the sender is told what the path says to this very packet.
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

    /// Calls `body` with the errors that were kept, at most `limit` of them.
    package func readErrors(limit: Int, _ body: (SendingError) -> Void) {
        for _ in 0..<limit {
            var error = clinux_error()
            let status = clinux_receive_error(descriptor, &error)
            guard status >= 0 else { return }
            if status > 0, let told = SendingError(&error) { body(told) }
        }
    }
}

extension SendingError {
    fileprivate init?(_ error: inout clinux_error) {
        guard let destination = withUnsafePointer(to: &error.destination, { read($0) }) else { return nil }
        self.destination = destination
        mtu = error.mtu
        if error.is_local != 0 {
            // The first link is too small for the datagram: as its router would have said.
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
