import Realtime
import Wire

/// The settings for connections to the API's port.
struct ConnectionSettings {
    let addresses: ClientAddresses
    let limits: ConnectionLimits

    init(_ configuration: ServerConfiguration) throws(ConfigurationError) {
        var rules = ClientAddresses.Rules()
        rules.trustedProxies = try Self.ranges(\.http.trustedProxies, configuration)
        rules.proxyProtocol = try Self.ranges(\.http.proxyProtocol, configuration)
        rules.header = configuration[\.http.forwardedHeader]
        if rules.header != .none, rules.trustedProxies.isEmpty {
            throw ConfigurationError(
                "http.forwardedHeader is only accepted from http.trustedProxies: list your proxies there.")
        }
        addresses = ClientAddresses(rules)
        limits = ConnectionLimits(
            total: DescriptorBudget(configuration).connections,
            perAddress: configuration[\.http.limits.connectionsPerAddress])
    }

    private static func ranges(
        _ setting: KeyPath<SettingsTable, Setting<[String]>>, _ configuration: ServerConfiguration
    ) throws(ConfigurationError) -> [AddressRange] {
        var ranges: [AddressRange] = []
        for text in configuration[setting] {
            guard let range = AddressRange(text) else {
                let key = SettingsTable.key(of: setting)
                throw ConfigurationError("\(key): \(text) is not an address or range such as 10.0.0.0/8.")
            }
            ranges.append(range)
        }
        return ranges
    }
}
