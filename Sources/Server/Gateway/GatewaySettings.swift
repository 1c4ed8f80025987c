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
}
