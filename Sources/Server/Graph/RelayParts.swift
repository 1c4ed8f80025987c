import Logging
import Relay
import Services
import Storage

/// The relay, if this process runs it, and what the rest of the server needs from it.
struct RelayParts: Sendable {
    let settings: RelaySettings
    let server: RelayServer?
    /// The configuration that credentials are issued for, updated by reloads.
    let current: CurrentRelay
    /// Nil without a relay.
    let issuer: ICEServerIssuer?
    /// Limits of the operating system that are too low.
    let warnings: [String]

    /// Starts the relay.
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
            ? [] : SystemLimits.warnings(allocations: configuration[\.relay.limits.allocations])
        for warning in warnings { logger.warning("\(warning)") }
    }
}
