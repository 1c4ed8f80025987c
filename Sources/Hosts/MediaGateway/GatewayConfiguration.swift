import DatagramIO
package import Gateway
package import SDP
package import SecureMedia
package import Wire

/// Everything that the media gateway is told before it starts.
package struct GatewayConfiguration: Sendable {
    /// Addresses to listen on; none means each address of this machine, and so does a wildcard for its family.
    package var listen: [IPAddress] = []
    /// The first worker's port; each further one has the next. 0 lets the kernel choose, for tests.
    package var port: UInt16 = 3480
    /// What clients are told instead of local addresses, behind a one-to-one NAT.
    package var externals: @Sendable ([IPAddress]) -> [IPAddress: IPAddress] = { _ in [:] }
    /// In the order of preference.
    package var profiles: [SRTPProfile] = SRTPProfile.preferred
    /// What video may come in. VP8 is in every call, the others are where every leg has them.
    package var videoCodecs: Set<MediaCodec> = MediaCodec.forwardedVideo
    /// Threads; nil means one for each core.
    package var workers: Int?
    /// Legs of all calls.
    package var legs = 4_000
    /// ICE-TCP connections of all threads together, each of which has an equal share; nil means 4,096 for each thread.
    package var connections: Int?
    /// Of each published track.
    package var trackLimits = TrackLimits()

    package init() {}

    var workerCount: Int { max(1, workers ?? ProcessorCount.available) }

    /// Of each thread.
    var workerConnections: Int? { connections.map { max(1, $0 / workerCount) } }

    /// Where it listens, each address by itself: an answer has to leave from where it was asked.
    func localAddresses(_ own: [IPAddress]) -> [IPAddress] {
        guard !listen.isEmpty else { return own }
        let wildcards = listen.filter { $0.isUnspecified }.map(\.family)
        let named = listen.filter { !$0.isUnspecified }
        return named + own.filter { wildcards.contains($0.family) && !named.contains($0) }
    }
}

/// Why the gateway cannot start, in words that name the setting and what to do.
package struct GatewayError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ failure: DatagramSocket.Failure, _ address: TransportAddress, _ transport: String) {
        if failure.isPortTaken {
            self.init("gateway.port: \(transport) \(address) is taken by another program; choose another port")
        } else if failure.isAddressUnknown {
            self.init("relay.listen: this machine has no address \(address.address)")
        } else {
            self.init("gateway.port: cannot listen on \(transport) \(address): \(failure.description)")
        }
    }
}
