import WebAPI

extension ServerConfiguration {
    /// Every setting for the operator's page: the value in force, but of secrets only how many there are, and of maps
    /// only their names.
    var report: [ConfiguredSetting] {
        SettingsTable.all.map { setting in
            let value = value(of: setting)
            return ConfiguredSetting(
                key: setting.key, meaning: setting.description, type: setting.type,
                value: Self.shown(value, isSecret: setting.isSecret),
                defaultValue: ReferenceFile.yaml(setting.defaultValue), isDefault: value == setting.defaultValue,
                isSecret: setting.isSecret, reloads: setting.isLive, source: location(of: setting))
        }
    }

    private static func shown(_ value: SettingValue, isSecret: Bool) -> String {
        switch value {
        case .map(let map): "{" + map.keys.sorted().map { "\($0): …" }.joined(separator: ", ") + "}"
        case _ where isSecret: secret(value)
        case .records(let records):
            records.isEmpty
                ? "[]"
                : records.map { record in
                    record.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ")
                }.joined(separator: "; ")
        default: ReferenceFile.yaml(value)
        }
    }

    /// What may be told of a secret: whether it is set, or how many there are.
    private static func secret(_ value: SettingValue) -> String {
        switch value {
        case .string(let text): text.isEmpty ? "\"\"" : "set"
        case .strings(let texts): texts.isEmpty ? "[]" : "\(texts.count) set"
        case .records(let records): records.isEmpty ? "[]" : "\(records.count) set"
        case .integer, .decimal, .boolean, .integers, .map: "set"
        }
    }
}
