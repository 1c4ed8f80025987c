import Testing

@testable import Server

@Suite struct SettingsTableTests {
    /// The key of every declared setting, and the path of the property that declares it.
    private static func declarations(in group: Any, under prefix: String = "") -> [(path: String, key: String?)] {
        Mirror(reflecting: group).children.flatMap { child -> [(path: String, key: String?)] in
            let path = prefix + (child.label ?? "")
            let members = Mirror(reflecting: child.value).children
            if let definition = members.first(where: { $0.label == "definition" })?.value {
                return [(path, (definition as? SettingDefinition)?.key)]
            }
            return declarations(in: child.value, under: path + ".")
        }
    }

    @Test func everyDeclaredSettingIsInTheTableOnce() {
        let declared = Self.declarations(in: SettingsTable.settings)
        #expect(declared.count > 90)
        #expect(declared.compactMap { $0.key } == SettingsTable.all.map(\.key))
        #expect(Set(SettingsTable.all.map(\.key)).count == SettingsTable.all.count)
    }

    /// `\.relay.limits.allocations` is `relay.limits.allocations`.
    @Test func aKeyIsThePathOfItsProperty() {
        for declaration in Self.declarations(in: SettingsTable.settings) {
            #expect(declaration.key == declaration.path)
        }
        #expect(SettingsTable.key(of: \.relay.limits.allocations) == "relay.limits.allocations")
    }

    @Test func everyDefaultIsAllowed() {
        for setting in SettingsTable.all {
            #expect(setting.accepts(setting.defaultValue), "\(setting.key)")
            #expect(SettingsTable.definition(of: setting.key)?.defaultValue == setting.defaultValue)
        }
    }

    @Test func everyTypeHasItsDefault() throws {
        let configuration = try ServerConfiguration(file: nil)
        #expect(configuration[\.http.host] == "0.0.0.0")
        #expect(configuration[\.http.port] == 8080)
        #expect(configuration[\.relay.mobility])
        #expect(configuration[\.relay.listen].isEmpty)
        #expect(configuration[\.relay.tlsPorts] == [5349])
        #expect(configuration[\.relay.users].isEmpty)
        #expect(configuration[\.accounts.issuers].isEmpty)
        #expect(configuration[\.log.format] == .console)
        #expect(configuration[\.transcription.provider].rawValue == "none")
        #expect(configuration[\.relay.credentials] == .scoped)
    }

    @Test func everyTypeIsReadAsConfigured() throws {
        let configuration = try ServerConfiguration(
            file: nil,
            arguments: [
                "--http-host", "::1", "--http-port", "9000", "--relay-listen", "127.0.0.1", "--relay-listen", "::1",
                "--relay-tls-ports", "443", "--relay-tls-ports", "5349", "--log-format", "json",
            ],
            environment: [
                "SWITCHBOARD_RELAY_MOBILITY": "false", "SWITCHBOARD_TRANSCRIPTION_PROVIDER": "webhook",
                "SWITCHBOARD_RELAY_CREDENTIALS": "open",
            ])
        #expect(configuration[\.http.host] == "::1")
        #expect(configuration[\.http.port] == 9000)
        #expect(configuration[\.relay.mobility] == false)
        #expect(configuration[\.relay.listen] == ["127.0.0.1", "::1"])
        #expect(configuration[\.relay.tlsPorts] == [443, 5349])
        #expect(configuration[\.log.format] == .json)
        #expect(configuration[\.transcription.provider] == .webhook)
        #expect(configuration[\.relay.credentials] == .open)
    }

    @Test func aChoiceThatIsNotOfferedIsRejected() {
        #expect(throws: ConfigurationError.self) {
            try ServerConfiguration(file: nil, arguments: ["--transcription-provider", "nobody"])
        }
    }
}
