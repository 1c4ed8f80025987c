import Logging

extension SettingsTable {
    /// Where data is stored.
    struct Storage: Sendable {
        let path = Setting<String>(
            "storage.path", default: "./data",
            "Directory of the database, the keys and the control socket.")
    }

    /// How the server stops.
    struct Shutdown: Sendable {
        let drainSeconds = Setting<Int>(
            "shutdown.drainSeconds", default: 30, in: 0...86_400,
            "How long, after SIGTERM, calls that are relayed may go on before the server ends.")
    }

    /// The log.
    struct Log: Sendable {
        enum Format: String, CaseIterable, Sendable {
            case console, json
        }

        let level = Setting<Logger.Level>(
            "log.level", default: .info, oneOf: Logger.Level.allCases,
            "The least important level that is logged."
        ).live
        let format = Setting<Format>(
            "log.format", default: .console, oneOf: Format.allCases,
            "How log lines look, on standard error.")
    }
}
