import Configuration
import Foundation

/// The values of all settings: command line over environment over file over defaults.
///
/// An unknown key or an invalid value is an error that names it and its location.
package struct ServerConfiguration: Sendable {
    private var values: [String: SettingValue]
    /// Where each value that is not a default was read: `switchboard.yaml:12`, a flag or a variable.
    private var locations: [String: String]

    /// - Parameters:
    ///   - file: a YAML file, or nil for none.
    ///   - arguments: such as `["--http-port", "9000"]`; lists repeat their flag.
    ///   - environment: such as `SWITCHBOARD_HTTP_PORT=9000`; lists are separated by commas. Other names that begin with
    ///     `SWITCHBOARD_` are errors, except those that Kubernetes adds.
    package init(file: String?, arguments: [String] = [], environment: [String: String] = [:]) throws {
        try CommandLineSettings.check(arguments)
        let inFile = try file.map { try ConfigurationFile(path: $0) }
        let variables = try EnvironmentVariables.settings(in: environment)
        let environmentProvider = EnvironmentVariablesProvider(environmentVariables: variables)
            .prefixKeys(with: "switchboard")
        let argumentsProvider = CommandLineArgumentsProvider(arguments: ["switchboard"] + arguments)
        var values: [String: SettingValue] = [:]
        var locations: [String: String] = [:]
        for setting in SettingsTable.all {
            let flag = "The command line's \(Self.flag(for: setting.key))"
            let variable = "The environment's \(Self.variable(for: setting.key))"
            if let value = try Self.read(setting, from: argumentsProvider, named: flag) {
                (values[setting.key], locations[setting.key]) = (value, flag)
            } else if let value = try Self.read(setting, from: environmentProvider, named: variable) {
                (values[setting.key], locations[setting.key]) = (value, variable)
            } else {
                values[setting.key] = inFile?.values[setting.key] ?? setting.defaultValue
                locations[setting.key] = inFile?.locations[setting.key]
            }
        }
        self.values = values
        self.locations = locations
    }

    /// The value of a setting: `configuration[\.http.port]`.
    subscript<Value>(_ setting: KeyPath<SettingsTable, Setting<Value>>) -> Value {
        let setting = SettingsTable.settings[keyPath: setting]
        return setting.value(from: value(of: setting.definition))
    }

    func value(of setting: SettingDefinition) -> SettingValue { values[setting.key] ?? setting.defaultValue }

    /// Where the value was read: `switchboard.yaml:12`, a flag or a variable; nil for a default.
    func location(of setting: SettingDefinition) -> String? { locations[setting.key] }

    /// This configuration with the values of `other` for these settings.
    func replacing(_ keys: Set<String>, from other: ServerConfiguration) -> ServerConfiguration {
        var copy = self
        for key in keys { (copy.values[key], copy.locations[key]) = (other.values[key], other.locations[key]) }
        return copy
    }

    /// An error whose message begins with a setting, prefixed with the location where the setting was given.
    func located(_ error: any Error) -> ConfigurationError {
        let message = "\(error)"
        let key = String(message.prefix { $0.isLetter || $0.isNumber || $0 == "." })
        guard let location = locations[key] else { return ConfigurationError(message) }
        return ConfigurationError("\(location): \(message)")
    }

    private static func read(
        _ setting: SettingDefinition, from provider: some ConfigProvider, named name: String
    ) throws -> SettingValue? {
        let type: ConfigType? =
            switch setting.kind {
            case .string, .choice: .string
            case .integer: .int
            case .decimal: .double
            case .boolean: .bool
            case .strings: .stringArray
            case .integers: .intArray
            case .map, .records: nil
            }
        guard let type else { return nil }
        let parts = setting.key.split(separator: ".").map(String.init)
        let content: ConfigContent?
        do {
            content = try provider.value(forKey: AbsoluteConfigKey(parts), type: type).value?.content
        } catch {
            throw ConfigurationError("\(name) must be \(setting.allowed).")
        }
        let value: SettingValue? =
            switch content {
            case .string(let text): .string(text)
            case .int(let number): .integer(number)
            case .double(let number): .decimal(number)
            case .bool(let truth): .boolean(truth)
            case .stringArray(let texts): .strings(texts.filter { !$0.isEmpty })
            case .intArray(let numbers): .integers(numbers)
            default: nil
            }
        if let value, !setting.accepts(value) { throw ConfigurationError("\(name) must be \(setting.allowed).") }
        return value
    }

    /// `relay.minPort` as a flag: `--relay-min-port`.
    static func flag(for key: String) -> String { "--" + words(of: key).joined(separator: "-") }

    /// `relay.minPort` as a variable: `SWITCHBOARD_RELAY_MIN_PORT`.
    static func variable(for key: String) -> String {
        "SWITCHBOARD_" + words(of: key).map { $0.uppercased() }.joined(separator: "_")
    }

    private static func words(of key: String) -> [String] {
        key.split(separator: ".").flatMap { part in
            var words = [""]
            var previousIsLower = false
            for character in part {
                if character.isUppercase && previousIsLower { words.append("") }
                words[words.count - 1] += character.lowercased()
                previousIsLower = character.isLowercase
            }
            return words
        }
    }
}
