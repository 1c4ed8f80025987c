/// Every setting that Switchboard has, in the order in which Config/switchboard.yaml lists them.
///
/// A setting is declared once, as a property of its group: `\.relay.limits.allocations` is `relay.limits.allocations` in
/// files. The compiler checks that it exists and knows its type; no other list has to be kept.
struct SettingsTable: Sendable {
    let http = HTTP()
    let admin = Admin()
    let storage = Storage()
    let shutdown = Shutdown()
    let log = Log()
    let accounts = Accounts()
    let features = Features()
    let calls = Calls()
    let messages = Messages()
    let reports = Reports()
    let limits = Limits()
    let voice = Voice()
    let recordings = Recordings()
    let media = Media()
    let transcription = Transcription()
    let languages = Languages()
    let webhooks = Webhooks()
    let push = Push()
    let relay = Relay()
    let gateway = Gateway()

    static let ports = 0...65535
    static let rates = 0...1_000_000_000

    static let settings = SettingsTable()

    static let all: [SettingDefinition] = definitions(in: settings)

    /// The definition of the setting with this key, if there is one.
    static func definition(of key: String) -> SettingDefinition? { byKey[key] }

    /// The key of a setting, such as `http.port`.
    static func key<Value>(of setting: KeyPath<SettingsTable, Setting<Value>>) -> String {
        settings[keyPath: setting].key
    }

    private static let byKey = Dictionary(all.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })

    /// Found by reflection, so that a setting that is declared cannot be missing.
    private static func definitions(in group: Any) -> [SettingDefinition] {
        Mirror(reflecting: group).children.flatMap { child -> [SettingDefinition] in
            if let setting = child.value as? any DefinedSetting { return [setting.definition] }
            return definitions(in: child.value)
        }
    }
}

/// A setting of any type.
private protocol DefinedSetting {
    var definition: SettingDefinition { get }
}

extension Setting: DefinedSetting {}
