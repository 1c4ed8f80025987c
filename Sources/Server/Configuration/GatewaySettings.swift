import Gateway
import MediaGateway
import Relay
import SDP
import SecureMedia

/// The settings of the media gateway.
struct GatewaySettings: Hashable, Sendable {
    /// The first UDP port; each worker has one.
    let port: Int
    /// The preferred one first.
    let profiles: [SRTPProfile]
    let videoCodecs: Set<MediaCodec>
    /// 0 means one for each core.
    let workers: Int
    let trackLimits: TrackLimits
    /// As many as the descriptor budget allows.
    let connections: Int

    init(_ configuration: ServerConfiguration) throws(ConfigurationError) {
        port = configuration[\.gateway.port]
        workers = configuration[\.gateway.workers]
        connections = DescriptorBudget(configuration).gatewayConnections
        trackLimits = TrackLimits(
            bitsPerSecond: UInt64(clamping: configuration[\.gateway.limits.trackBitsPerSecond]),
            packetsPerSecond: UInt64(clamping: configuration[\.gateway.limits.trackPacketsPerSecond]))
        do {
            profiles = try SRTPProfile.list(configuration[\.gateway.srtpProfiles])
        } catch {
            throw ConfigurationError("gateway.srtpProfiles must list SRTP profiles: \(error).")
        }
        videoCodecs = try Self.codecs(configuration[\.gateway.videoCodecs])
    }

    private static func codecs(_ names: [String]) throws(ConfigurationError) -> Set<MediaCodec> {
        var codecs: Set<MediaCodec> = []
        for name in names {
            guard let codec = MediaCodec(videoNamed: name) else {
                let known = MediaCodec.videoNames.joined(separator: ", ")
                throw ConfigurationError("gateway.videoCodecs: unknown codec \(name); the known codecs are \(known).")
            }
            codecs.insert(codec)
        }
        guard codecs.contains(.vp8) else {
            throw ConfigurationError("gateway.videoCodecs must include VP8, which every client supports.")
        }
        return codecs
    }

    /// The gateway listens on the relay's addresses, and has the same external addresses.
    func gateway(beside relay: RelayConfiguration) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.listen = relay.listen
        configuration.port = UInt16(clamping: port)
        configuration.profiles = profiles
        configuration.videoCodecs = videoCodecs
        configuration.trackLimits = trackLimits
        configuration.connections = connections
        configuration.workers = workers == 0 ? nil : workers
        let externals = relay.externalAddresses
        configuration.externals = { RelayAddresses(local: $0, externals: externals).advertisedByLocal }
        return configuration
    }
}
