import Foundation
import Yams

/// A configuration file in YAML, checked against the table of settings: every key must be known and every value valid.
struct ConfigurationFile {
    let values: [String: SettingValue]
    /// Where each value was read, such as `switchboard.yaml:12`.
    let locations: [String: String]

    init(path: String) throws(ConfigurationError) {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(
                "The configuration file \(path) cannot be read: check that it exists and is UTF-8.")
        }
        try self.init(text: text, name: path)
    }

    init(text: String, name: String) throws(ConfigurationError) {
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ConfigurationError("\(name) is not valid YAML: \(error)")
        }
        var found = Found()
        // A file with only comments composes to nothing, or to an empty scalar.
        if let root, root.scalar?.string.isEmpty != true {
            guard let mapping = root.mapping else {
                throw ConfigurationError("\(name) must contain keys and values, such as `http: {port: 8080}`.")
            }
            try Self.walk(mapping, under: "", in: name, into: &found)
        }
        values = found.values
        locations = found.locations
    }

    private struct Found {
        var values: [String: SettingValue] = [:]
        var locations: [String: String] = [:]
    }

    private static func walk(
        _ mapping: Node.Mapping, under prefix: String, in name: String, into found: inout Found
    ) throws(ConfigurationError) {
        for (keyNode, node) in mapping {
            guard let part = keyNode.scalar?.string else {
                throw ConfigurationError("\(name) has a key that is not a string.")
            }
            let key = prefix.isEmpty ? part : prefix + "." + part
            let location = "\(name):\(keyNode.mark?.line ?? 0)"
            if let setting = SettingsTable.definition(of: key) {
                guard let value = Self.value(of: node, for: setting), setting.accepts(value) else {
                    throw ConfigurationError("\(location): \(key) must be \(setting.allowed).")
                }
                found.values[key] = value
                found.locations[key] = location
            } else if SettingsTable.all.contains(where: { $0.key.hasPrefix(key + ".") }) {
                if let inner = node.mapping {
                    try walk(inner, under: key, in: name, into: &found)
                } else if node.scalar?.string.isEmpty != true {
                    throw ConfigurationError("\(location): \(key) must contain further keys.")
                }
            } else {
                throw ConfigurationError("\(location): unknown setting \(key).\(Self.suggestion(for: key))")
            }
        }
    }

    private static func value(of node: Node, for setting: SettingDefinition) -> SettingValue? {
        switch setting.kind {
        case .string, .choice: node.scalar.map { .string($0.string) }
        case .integer: node.int.map { .integer($0) }
        case .decimal: node.float.map { .decimal($0) }
        case .boolean: node.bool.map { .boolean($0) }
        case .strings: Self.strings(in: node).map { .strings($0) }
        case .integers:
            node.sequence.flatMap { sequence in
                let numbers = sequence.compactMap(\.int)
                return numbers.count == sequence.count ? .integers(numbers) : nil
            }
        case .map: Self.map(in: node).map { .map($0) }
        case .records:
            node.sequence.flatMap { sequence in
                let records = sequence.compactMap { Self.map(in: $0) }
                return records.count == sequence.count ? .records(records) : nil
            }
        }
    }

    private static func strings(in node: Node) -> [String]? {
        guard let sequence = node.sequence else { return nil }
        let strings = sequence.compactMap { $0.scalar?.string }
        return strings.count == sequence.count ? strings : nil
    }

    private static func map(in node: Node) -> [String: String]? {
        guard let mapping = node.mapping else { return nil }
        var map: [String: String] = [:]
        for (key, value) in mapping {
            guard let key = key.scalar?.string, let value = value.scalar?.string else { return nil }
            map[key] = value
        }
        return map
    }

    /// Suggests the nearest known keys; else those in other groups that end like `key`.
    static func suggestion(for key: String) -> String {
        let keys = SettingsTable.all.map(\.key)
        let last = key.split(separator: ".").last.map { $0.lowercased() } ?? ""
        let nearest = SimilarNames.of(key, among: keys)
        return SimilarNames.question(
            nearest.isEmpty ? keys.filter { $0.split(separator: ".").last?.lowercased() == last } : nearest)
    }
}
