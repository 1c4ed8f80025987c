extension SettingsTable {
    /// Webhooks.
    struct Webhooks: Sendable {
        let allow = Setting<[String]>(
            "webhooks.allow", default: [],
            "Ranges of private addresses that webhooks may have all the same, without TLS too, such as 10.0.0.0/8.")
    }
}
