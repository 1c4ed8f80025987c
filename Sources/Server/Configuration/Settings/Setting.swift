/// A setting whose values have the Swift type `Value`, so that the compiler knows what `configuration[\.http.port]` is.
struct Setting<Value: Sendable>: Sendable {
    private(set) var definition: SettingDefinition
    let defaultValue: Value
    /// Returns nil if the value is of another type.
    private let convert: @Sendable (SettingValue) -> Value?

    var key: String { definition.key }

    /// A reload applies it.
    var live: Setting { with { $0.isLive = true } }
    /// Its values are never shown.
    var secret: Setting { with { $0.isSecret = true } }
    /// It names a file whose content is part of the configuration.
    var file: Setting { with { $0.isFile = true } }

    /// - Parameter value: one that the definition accepts.
    func value(from value: SettingValue) -> Value { convert(value) ?? defaultValue }

    private func with(_ change: (inout SettingDefinition) -> Void) -> Setting {
        var copy = self
        change(&copy.definition)
        return copy
    }

    private init(
        _ key: String, _ kind: SettingDefinition.Kind, default value: Value, stored: SettingValue,
        _ description: String, convert: @escaping @Sendable (SettingValue) -> Value?
    ) {
        definition = SettingDefinition(key: key, kind: kind, defaultValue: stored, description: description)
        defaultValue = value
        self.convert = convert
    }
}

extension Setting where Value == String {
    init(_ key: String, default value: String, _ description: String) {
        self.init(key, .string, default: value, stored: .string(value), description) {
            if case .string(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value: RawRepresentable, Value.RawValue == String {
    init(_ key: String, default value: Value, oneOf choices: [Value], _ description: String) {
        let names = choices.map(\.rawValue)
        self.init(key, .choice(names), default: value, stored: .string(value.rawValue), description) {
            if case .string(let name) = $0 { Value(rawValue: name) } else { nil }
        }
    }
}

extension Setting where Value == Int {
    init(_ key: String, default value: Int, in range: ClosedRange<Int>, _ description: String) {
        self.init(key, .integer(range), default: value, stored: .integer(value), description) {
            if case .integer(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value == Double {
    init(_ key: String, default value: Double, in range: ClosedRange<Double>, _ description: String) {
        self.init(key, .decimal(range), default: value, stored: .decimal(value), description) {
            if case .decimal(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value == Bool {
    init(_ key: String, default value: Bool, _ description: String) {
        self.init(key, .boolean, default: value, stored: .boolean(value), description) {
            if case .boolean(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value == [String] {
    init(_ key: String, default value: [String], _ description: String) {
        self.init(key, .strings, default: value, stored: .strings(value), description) {
            if case .strings(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value == [Int] {
    init(_ key: String, default value: [Int], in range: ClosedRange<Int>, _ description: String) {
        self.init(key, .integers(range), default: value, stored: .integers(value), description) {
            if case .integers(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value == [String: String] {
    init(_ key: String, default value: [String: String], _ description: String) {
        self.init(key, .map, default: value, stored: .map(value), description) {
            if case .map(let value) = $0 { value } else { nil }
        }
    }
}

extension Setting where Value == [[String: String]] {
    /// - Parameter fields: the keys of each record.
    init(_ key: String, default value: [[String: String]], fields: [String], _ description: String) {
        self.init(key, .records(fields), default: value, stored: .records(value), description) {
            if case .records(let value) = $0 { value } else { nil }
        }
    }
}
