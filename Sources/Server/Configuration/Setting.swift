/// One thing that can be configured: the single place that knows its key, its type, its default and what it means.
///
/// The table of settings checks files, environment and command line, and writes Config/switchboard.yaml, so that the
/// three cannot drift apart.
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
        /// A map of names to texts; only in a file.
        case map
        /// A list of maps that have all of these names; only in a file.
        case records([String])
    }

    /// Dotted, such as `relay.minPort`.
    package let key: String
    package let kind: Kind
    package let standard: Value
    package let meaning: String
    /// A reload applies it; what is not live needs a restart.
    package private(set) var isLive = false
    /// Its values are never shown.
    package private(set) var isSecret = false
    /// It names a file whose content counts too.
    package private(set) var isFile = false

    var live: Setting { with { $0.isLive = true } }
    var secret: Setting { with { $0.isSecret = true } }
    var file: Setting { with { $0.isFile = true } }

    private func with(_ change: (inout Setting) -> Void) -> Setting {
        var copy = self
        change(&copy)
        return copy
    }

    init(_ key: String, _ kind: Kind, _ standard: Value, _ meaning: String) {
        self.key = key
        self.kind = kind
        self.standard = standard
        self.meaning = meaning
    }

    /// What the setting takes, in words for an error.
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

    /// Whether `value` has the setting's type and lies within its bounds.
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
