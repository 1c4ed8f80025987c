/// A change of a setting that a reload found, for a log line. It never shows the value of a secret.
struct SettingChange {
    let setting: SettingDefinition
    let old: SettingValue
    let new: SettingValue

    var summary: String { "\(setting.key) (\(difference))" }

    private var difference: String {
        switch (old, new) {
        case (.map(let old), .map(let new)): Self.difference(old, new)
        case (.strings(let old), .strings(let new)) where setting.isSecret:
            "\(old.count) before, \(new.count) now, \(new.count { !old.contains($0) }) new"
        case (.strings(let old), .strings(let new)):
            Self.lists(added: new.filter { !old.contains($0) }, removed: old.filter { !new.contains($0) })
        case (.records(let old), .records(let new)): "\(old.count) before, \(new.count) now"
        default: setting.isSecret ? "changed" : "\(Self.text(old)) before, \(Self.text(new)) now"
        }
    }

    /// Shows the keys, but not their values.
    private static func difference(_ old: [String: String], _ new: [String: String]) -> String {
        let added = new.keys.filter { old[$0] == nil }.sorted()
        let removed = old.keys.filter { new[$0] == nil }.sorted()
        let changed = new.keys.filter { name in old[name].map { $0 != new[name] } ?? false }.sorted()
        return lists(added: added, removed: removed, changed: changed)
    }

    private static func lists(added: [String], removed: [String], changed: [String] = []) -> String {
        let parts = [("added", added), ("removed", removed), ("changed", changed)].filter { !$0.1.isEmpty }
        let clauses = parts.map { "\($0.0) \($0.1.joined(separator: ", "))" }
        return clauses.isEmpty ? "another order" : clauses.joined(separator: "; ")
    }

    private static func text(_ value: SettingValue) -> String {
        switch value {
        case .string(let text): text.isEmpty ? "nothing" : text
        case .integer(let number): "\(number)"
        case .decimal(let number): ReferenceFile.text(number)
        case .boolean(let truth): "\(truth)"
        case .integers(let numbers): numbers.map(String.init).joined(separator: ", ")
        case .strings(let texts): texts.joined(separator: ", ")
        case .map, .records: "changed"
        }
    }
}
