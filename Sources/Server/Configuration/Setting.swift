/// The definition of a setting: its key, type, default and description.
///
/// The table of settings is used to check files, environment and command line, and to write Config/switchboard.yaml, so
/// that they cannot drift apart.
package struct Setting: Sendable {
    package enum Value: Hashable, Sendable {
        case text(String)
        case integer(Int)
        case boolean(Bool)
        case texts([String])
        case integers([Int])
        case map([String: String])
        case records([[String: String]])
    }

    package enum Kind: Sendable {
        case text
        case choice([String])
        case integer(ClosedRange<Int>)
        case boolean
        case texts
        case integers(ClosedRange<Int>)
        /// A map of names to strings; only in a file.
        case map
        /// A list of maps with exactly these keys; only in a file.
        case records([String])
    }

    /// Dotted, such as `relay.minPort`.
    package let key: String
    package let kind: Kind
    package let defaultValue: Value
    package let description: String
    /// Whether a reload applies it; other settings need a restart.
    package private(set) var isLive = false
    /// Whether its values are never shown.
    package private(set) var isSecret = false
    /// Whether it names a file whose content is part of the configuration.
    package private(set) var isFile = false

    var live: Setting { with { $0.isLive = true } }
    var secret: Setting { with { $0.isSecret = true } }
    var file: Setting { with { $0.isFile = true } }

    private func with(_ change: (inout Setting) -> Void) -> Setting {
        var copy = self
        change(&copy)
        return copy
    }

    init(_ key: String, _ kind: Kind, _ defaultValue: Value, _ description: String) {
        self.key = key
        self.kind = kind
        self.defaultValue = defaultValue
        self.description = description
    }

    /// The values that the setting accepts, for error messages.
    package var allowed: String {
        switch kind {
        case .text: "a text"
        case .choice(let choices): "one of " + choices.joined(separator: ", ")
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .boolean: "true or false"
        case .texts: "a list of texts"
        case .integers(let range): "a list of whole numbers from \(range.lowerBound) to \(range.upperBound)"
        case .map: "a map of names to texts"
        case .records(let names): "a list of maps with " + names.joined(separator: ", ")
        }
    }

    /// Whether `value` has the setting's type and is within its bounds.
    package func accepts(_ value: Value) -> Bool {
        switch (kind, value) {
        case (.text, .text), (.boolean, .boolean), (.texts, .texts), (.map, .map): true
        case (.choice(let choices), .text(let text)): choices.contains(text)
        case (.integer(let range), .integer(let number)): range.contains(number)
        case (.integers(let range), .integers(let numbers)): numbers.allSatisfy(range.contains)
        case (.records(let names), .records(let records)): records.allSatisfy { Set($0.keys) == Set(names) }
        default: false
        }
    }
}
