/// What becomes of one kind of row or file when a user is deleted.
package struct ErasureRule: Hashable, Sendable {
    package enum Fate: Hashable, Sendable {
        /// The user's rows are removed.
        case removed
        /// The user's rows stay, and what is personal in them is replaced or emptied.
        case cleared
        /// The rows stay: they hold ids, times, numbers and states.
        case kept
    }

    package enum Moment: Hashable, Sendable {
        /// In the transaction of the deletion.
        case atOnce
        case step(ErasureStep)
        case never
    }

    /// The table; for files, `files:` and their kind.
    package let name: String
    package let fate: Fate
    package let moment: Moment
    /// Columns with ids of users.
    package let users: [String]
    /// Columns with what a person wrote or said, or what describes a person or a device.
    package let personal: [String]
    /// The other columns of text or bytes: ids of other things, states, digests, texts of the server.
    package let others: [String]
    /// The columns of the primary key, where rows are removed by the step `rows`.
    package let key: [String]

    init(
        _ name: String, _ fate: Fate, _ moment: Moment, users: [String] = [], personal: [String] = [],
        others: [String] = [], key: [String] = []
    ) {
        self.name = name
        self.fate = fate
        self.moment = moment
        self.users = users
        self.personal = personal
        self.others = others
        self.key = key
    }
}
