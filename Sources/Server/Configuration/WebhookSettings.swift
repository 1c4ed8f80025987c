import Webhooks
import Wire

extension WebhookAddressRules {
    init(_ configuration: ServerConfiguration) throws(ConfigurationError) {
        var ranges: [AddressRange] = []
        for text in configuration[\.webhooks.allow] {
            guard let range = AddressRange(text) else {
                throw ConfigurationError(
                    "webhooks.allow: \(text) is not a range of addresses, such as 10.0.0.0/8 or fd00::/8.")
            }
            ranges.append(range)
        }
        self.init(allowed: ranges)
    }
}
