import Messaging

extension SettingsTable {
    /// Messages of conversations.
    struct Messages: Sendable {
        let keepDays = Setting<Int>(
            "messages.keepDays", default: 0, in: MessageRetention.bounds,
            "Days after which messages are erased; 0: they are kept for ever. The administrators of a group "
                + "may set fewer days."
        )
    }

    /// What users report to the operator.
    struct Reports: Sendable {
        let keepDays = Setting<Int>(
            "reports.keepDays", default: 365, in: 1...36_500,
            "Days after which reports of users are removed, with the copies of messages that they have.")
    }
}
