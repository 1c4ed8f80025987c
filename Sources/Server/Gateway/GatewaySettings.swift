import MediaGateway
import Relay
import SecureMedia

/// What the configuration says of the media gateway.
struct GatewaySettings: Hashable, Sendable {
    /// The first of as many UDP ports as there are workers.
    let port: Int
    /// The preferred one first.
    let profiles: [SRTPProfile]
    /// 0: one for each core.
    let workers: Int

    init(_ configuration: ServerConfiguration) throws(ConfigurationError) {
        port = configuration.integer("gateway.port")
        workers = configuration.integer("gateway.workers")
        do {
            profiles = try SRTPProfile.list(configuration.texts("gateway.srtpProfiles"))
        } catch {
            throw ConfigurationError("gateway.srtpProfiles must name profiles: \(error).")
        }
    }

    /// It listens where the relay does, and is known by the same external addresses.
    func gateway(beside relay: RelayConfiguration) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.listen = relay.listen
        configuration.port = UInt16(clamping: port)
        configuration.profiles = profiles
        configuration.workers = workers == 0 ? nil : workers
        let externals = relay.externalAddresses
        configuration.externals = { RelayAddresses(local: $0, externals: externals).toldByLocal }
        return configuration
    }
}
