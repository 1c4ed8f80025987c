import Logging
import Relay
import Storage
import WebAPI

/// The relay, where this process runs it, and what the rest of the server needs of it.
struct RelayParts: Sendable {
    let settings: RelaySettings
    let server: RelayServer?
    /// What credentials are issued for, as it is after reloads.
    let current: CurrentRelay
    /// nil without a relay.
    let issuer: ICEServerIssuer?
    /// What the operating system allows too little of.
    let warnings: [String]

    /// Starts it.
    init(
        _ configuration: ServerConfiguration, _ roles: Set<ServerRole>, directory: DataDirectory, logger: Logger
    ) throws {
        settings = try RelaySettings(configuration, directory: directory)
        if let warning = settings.warning { logger.warning("relay: \(warning)") }
        server = roles.contains(.relay) ? try settings.start() : nil
        current = CurrentRelay(settings)
        issuer = server == nil ? nil : settings.issuer(current)
        warnings =
            server == nil
            ? [] : SystemLimits.warnings(allocations: configuration.integer("relay.limits.allocations"))
        for warning in warnings { logger.warning("\(warning)") }
    }
}
