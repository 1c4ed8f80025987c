import WebAPI

/// Config/switchboard.yaml: every setting with its meaning and its default, commented out.
package enum ReferenceFile {
    package static var text: String {
        var lines = [
            "# Every setting of Switchboard with its default. Uncomment what you change.",
            "# A flag (--http-port 9000) wins over the environment (SWITCHBOARD_HTTP_PORT=9000), which wins over this file.",
            "# What says \"Reloads.\" takes effect on SIGHUP or `switchboard reload`; the rest needs a restart.",
            "# Written by `switchboard settings` from the one table that also checks it.",
        ]
        var open: [String] = []
        for setting in SettingsTable.all {
            let parts = setting.key.split(separator: ".").map(String.init)
            let groups = Array(parts.dropLast())
            let common = zip(open, groups).prefix { $0 == $1 }.count
            if common == 0 { lines.append("") }
            for depth in common..<max(common, groups.count) {
                lines.append("# " + String(repeating: "  ", count: depth) + groups[depth] + ":")
            }
            open = groups
            let indentation = String(repeating: "  ", count: groups.count)
            lines.append(
                "# \(indentation)# \(setting.description) Type: \(setting.type).\(setting.isLive ? " Reloads." : "")"
            )
            lines.append("# \(indentation)\(parts.last ?? ""): \(yaml(setting.defaultValue))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// `0.15`, and `3` without a fraction.
    static func text(_ number: Double) -> String { Int(exactly: number).map(String.init) ?? String(number) }

    static func yaml(_ value: SettingValue) -> String {
        switch value {
        case .string(let text): "\"\(text)\""
        case .integer(let number): String(number)
        case .decimal(let number): text(number)
        case .boolean(let truth): String(truth)
        case .strings(let texts): "[" + texts.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        case .integers(let numbers): "[" + numbers.map(String.init).joined(separator: ", ") + "]"
        case .map: "{}"
        case .records: "[]"
        }
    }

    /// Every setting, for its page in `/docs`.
    static var documentation: [DocsSetting] {
        SettingsTable.all.map {
            DocsSetting(
                key: $0.key, meaning: $0.description, type: $0.type, defaultValue: yaml($0.defaultValue),
                reloads: $0.isLive)
        }
    }
}
