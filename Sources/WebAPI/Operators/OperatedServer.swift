package import Model

/// What the operator's page needs of the server as a whole, which the composition root provides.
package struct OperatedServer: Sendable {
    package var state: @Sendable () -> State
    package var setDraining: @Sendable (Bool) -> Void
    /// The settings in force.
    package var settings: @Sendable () -> [ConfiguredSetting]
    /// Figures of the moment and totals since the start, for charts.
    package var stats: @Sendable () -> JSON

    package init(
        state: @escaping @Sendable () -> State, setDraining: @escaping @Sendable (Bool) -> Void,
        settings: @escaping @Sendable () -> [ConfiguredSetting], stats: @escaping @Sendable () -> JSON
    ) {
        self.state = state
        self.setDraining = setDraining
        self.settings = settings
        self.stats = stats
    }

    package struct State: Encodable, Sendable {
        package var version: String
        package var startedAt: Timestamp
        /// Seconds since the start.
        package var uptime: Int64
        package var ready: Bool
        /// Why it is not ready: the word of `/readyz`.
        package var obstacle: String?
        package var draining: Bool
        /// Allocations of the relay.
        package var allocations: Int
        /// The roles of this process: `api`, `relay`, `gateway`.
        package var roles: [String]

        package init(
            version: String, startedAt: Timestamp, uptime: Int64, ready: Bool, obstacle: String?, draining: Bool,
            allocations: Int, roles: [String]
        ) {
            self.version = version
            self.startedAt = startedAt
            self.uptime = uptime
            self.ready = ready
            self.obstacle = obstacle
            self.draining = draining
            self.allocations = allocations
            self.roles = roles
        }
    }
}

/// A setting and its value in force. A secret has no value here: only whether it is set.
package struct ConfiguredSetting: Encodable, Sendable {
    package var key: String
    package var meaning: String
    package var type: String
    /// As the reference file writes it; for a secret what may be told of it.
    package var value: String
    package var defaultValue: String
    package var isDefault: Bool
    package var isSecret: Bool
    /// Whether a reload applies it.
    package var reloads: Bool
    /// Where it was read: a line of the file, a flag, or a variable.
    package var source: String?

    package init(
        key: String, meaning: String, type: String, value: String, defaultValue: String, isDefault: Bool,
        isSecret: Bool, reloads: Bool, source: String?
    ) {
        self.key = key
        self.meaning = meaning
        self.type = type
        self.value = value
        self.defaultValue = defaultValue
        self.isDefault = isDefault
        self.isSecret = isSecret
        self.reloads = reloads
        self.source = source
    }
}
