import Webhooks
import Wire

extension WebhookAddressRules {
    /// Of webhooks.
    init(_ configuration: ServerConfiguration) throws(ConfigurationError) {
        try self.init(configuration, \.webhooks.allow)
    }

    /// - Parameter setting: has the ranges of addresses that are allowed besides public ones.
    init(
        _ configuration: ServerConfiguration, _ setting: KeyPath<SettingsTable, Setting<[String]>>
    ) throws(ConfigurationError) {
        var ranges: [AddressRange] = []
        for text in configuration[setting] {
            guard let range = AddressRange(text) else {
                throw ConfigurationError(
                    "\(SettingsTable.key(of: setting)): \(text) is not a range of addresses, such as 10.0.0.0/8 or fd00::/8."
                )
            }
            ranges.append(range)
        }
        self.init(allowed: ranges)
    }
}
