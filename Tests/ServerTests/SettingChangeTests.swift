import Foundation
import Testing

@testable import Server

/// What a reload tells about a change, which must never be a secret's value.
@Suite struct SettingChangeTests {
    private func words(_ key: String, _ old: Setting.Value, _ new: Setting.Value) throws -> String {
        let setting = try #require(SettingsTable.setting(key))
        return SettingChange(setting: setting, old: old, new: new).words
    }

    @Test func plainValuesAreShown() throws {
        #expect(try words("http.port", .integer(1), .integer(2)) == "http.port (1 before, 2 now)")
        #expect(try words("http.certificate", .text(""), .text("a")) == "http.certificate (nothing before, a now)")
        #expect(
            try words("relay.peers.allow", .texts(["a", "b"]), .texts(["b", "c"]))
                == "relay.peers.allow (added c; removed a)")
        #expect(
            try words("relay.peers.allow", .texts(["a", "b"]), .texts(["b", "a"]))
                == "relay.peers.allow (another order)")
    }

    @Test func secretsAreCounted() throws {
        let users = try words(
            "relay.users", .map(["a": "one", "b": "two", "c": "three"]), .map(["a": "one", "b": "2", "d": "four"]))
        #expect(users == "relay.users (added d; removed c; changed b)")
        let secrets = try words("relay.secrets", .texts(["one", "two"]), .texts(["three", "one"]))
        #expect(secrets == "relay.secrets (2 before, 2 now, 1 new)")
    }

    /// Whoever adds a setting that is a password has to say so.
    @Test func whatSoundsSecretIsSecret() {
        for setting in SettingsTable.all {
            let name = setting.key.split(separator: ".").last?.lowercased() ?? ""
            if ["users", "secrets", "secret", "password", "oauthkeys"].contains(name) {
                #expect(setting.isSecret, "\(setting.key)")
            }
        }
    }
}

@Suite struct ConfigurationPlaceTests {
    @Test func anErrorIsToldWithThePlaceOfItsSetting() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml")
        try "http:\n  port: 1\nrelay:\n  realm: x\n".write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let configuration = try ServerConfiguration(
            file: file.path, arguments: ["--relay-port", "7"], environment: ["SWITCHBOARD_LOG_LEVEL": "debug"])
        func told(_ text: String) -> String { configuration.located(ConfigurationError(text)).description }
        #expect(told("relay.realm: is bad") == "\(file.path):4: relay.realm: is bad")
        #expect(told("relay.port (7) is bad") == "The command line's --relay-port: relay.port (7) is bad")
        #expect(told("log.level is bad") == "The environment's SWITCHBOARD_LOG_LEVEL: log.level is bad")
        #expect(told("relay.minPort is bad") == "relay.minPort is bad")
        #expect(told("something else") == "something else")
    }

    @Test func aReloadKeepsWhatItDoesNotReplace() throws {
        let old = try ServerConfiguration(file: nil, arguments: ["--http-port", "1", "--log-level", "info"])
        let new = try ServerConfiguration(file: nil, arguments: ["--http-port", "2", "--log-level", "debug"])
        let merged = old.replacing(["log.level"], from: new)
        #expect(merged.integer("http.port") == 1)
        #expect(merged.text("log.level") == "debug")
    }
}
