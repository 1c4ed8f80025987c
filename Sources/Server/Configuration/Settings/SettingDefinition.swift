/// The definition of a setting, whatever the type of its values: its key, kind, default and description.
///
/// The definitions are used to check files, environment and command line, and to write Config/switchboard.yaml, so that
/// they cannot drift apart.
struct SettingDefinition: Sendable {
    enum Kind: Sendable {
        case string
        case choice([String])
        case integer(ClosedRange<Int>)
        case decimal(ClosedRange<Double>)
        case boolean
        case strings
        case integers(ClosedRange<Int>)
        /// A map of names to strings; only in a file.
        case map
        /// A list of maps with exactly these keys; only in a file.
        case records([String])
    }

    /// Dotted, such as `relay.minPort`.
    let key: String
    let kind: Kind
    let defaultValue: SettingValue
    let description: String
    /// Whether a reload applies it; other settings need a restart.
    var isLive = false
    /// Whether its values are never shown.
    var isSecret = false
    /// Whether it names a file whose content is part of the configuration.
    var isFile = false

    /// Whether it is read from the file alone: neither the environment nor the command line can express it.
    var isOnlyInFiles: Bool {
        switch kind {
        case .map, .records: true
        default: false
        }
    }

    /// Whether the command line may give it more than once.
    var isList: Bool {
        switch kind {
        case .strings, .integers: true
        default: false
        }
    }

    /// The type, for the reference file.
    var type: String {
        switch kind {
        case .string: "string"
        case .choice(let choices): "one of " + choices.joined(separator: ", ")
        case .integer(let range): "whole number from \(range.lowerBound) to \(range.upperBound)"
        case .decimal(let range):
            "number from \(ReferenceFile.text(range.lowerBound)) to \(ReferenceFile.text(range.upperBound))"
        case .boolean: "true or false"
        case .strings: "list of strings"
        case .integers(let range): "list of whole numbers from \(range.lowerBound) to \(range.upperBound)"
        case .map: "map of names to strings"
        case .records(let fields): "list of maps with " + fields.joined(separator: ", ")
        }
    }

    /// The values that the setting accepts, for error messages.
    var allowed: String {
        switch kind {
        case .string: "a text"
        case .choice, .boolean: type
        case .strings: "a list of texts"
        case .map: "a map of names to texts"
        case .integer, .decimal, .integers, .records: "a \(type)"
        }
    }

    /// Whether `value` has the setting's type and is within its bounds.
    func accepts(_ value: SettingValue) -> Bool {
        switch (kind, value) {
        case (.string, .string), (.boolean, .boolean), (.strings, .strings), (.map, .map): true
        case (.choice(let choices), .string(let text)): choices.contains(text)
        case (.integer(let range), .integer(let number)): range.contains(number)
        case (.decimal(let range), .decimal(let number)): range.contains(number)
        case (.integers(let range), .integers(let numbers)): numbers.allSatisfy(range.contains)
        case (.records(let fields), .records(let records)): records.allSatisfy { Set($0.keys) == Set(fields) }
        default: false
        }
    }
}
