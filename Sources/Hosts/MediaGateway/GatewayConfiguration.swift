import DatagramIO
package import Gateway
package import SDP
package import SecureMedia
package import Wire

/// The configuration of the media gateway.
package struct GatewayConfiguration: Sendable {
    /// Addresses to listen on; empty means all addresses of this machine, and a wildcard means all of its family, both
    /// without loopback (`localAddresses`).
    package var listen: [IPAddress] = []
    /// The first worker's port; each further one has the next. 0 lets the kernel choose, for tests.
    package var port: UInt16 = 3480
    /// The addresses to advertise instead of local ones, behind a one-to-one NAT.
    package var externals: @Sendable ([IPAddress]) -> [IPAddress: IPAddress] = { _ in [:] }
    /// In the order of preference.
    package var profiles: [SRTPProfile] = SRTPProfile.preferred
    /// The video codecs. VP8 is allowed in every call, others in calls where every leg supports them.
    package var videoCodecs: Set<MediaCodec> = MediaCodec.forwardedVideo
    /// Threads; nil means one per core.
    package var workers: Int?
    /// The maximum number of legs in all calls.
    package var legs = 4_000
    /// ICE-TCP connections of all threads together, in equal shares; nil means 4,096 per thread.
    package var connections: Int?
    /// The limits of each published track.
    package var trackLimits = TrackLimits()

    package init() {}

    var workerCount: Int { max(1, workers ?? ProcessorCount.available) }

    /// Per thread.
    var workerConnections: Int? { connections.map { max(1, $0 / workerCount) } }

    /// The addresses to bind, each with its own socket: a response has to be sent from the address of the request. Of those
    /// that are not named, loopback only where there is nothing else: nobody else reaches it.
    func localAddresses(_ own: [IPAddress]) -> [IPAddress] {
        let wildcards = listen.filter(\.isUnspecified).map(\.family)
        let named = listen.filter { !$0.isUnspecified }
        let found = own.filter { (listen.isEmpty || wildcards.contains($0.family)) && !named.contains($0) }
        let reachable = found.filter { !$0.isLoopback }
        return named + (named.isEmpty && reachable.isEmpty ? found : reachable)
    }
}

/// Why the gateway cannot start; the text names the setting and what to do.
package struct GatewayError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether the machine does not have the address.
    let isAddressUnknown: Bool

    init(_ description: String, isAddressUnknown: Bool = false) {
        self.description = description
        self.isAddressUnknown = isAddressUnknown
    }

    init(_ failure: DatagramSocket.Failure, _ address: TransportAddress, _ transport: String) {
        if failure.isPortTaken {
            self.init("gateway.port: \(transport) \(address) is taken by another program; choose another port")
        } else if failure.isAddressUnknown {
            self.init("relay.listen: this machine has no address \(address.address)", isAddressUnknown: true)
        } else {
            self.init("gateway.port: cannot listen on \(transport) \(address): \(failure.description)")
        }
    }
}
