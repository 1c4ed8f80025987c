import Foundation
import Logging
import TestSupport
import Testing

@testable import Server

/// The summary of a change, which must never contain the value of a secret.
@Suite struct SettingChangeTests {
    private func summary(_ key: String, _ old: SettingValue, _ new: SettingValue) throws -> String {
        let setting = try #require(SettingsTable.definition(of: key))
        return SettingChange(setting: setting, old: old, new: new).summary
    }

    @Test func plainValuesAreShown() throws {
        #expect(try summary("http.port", .integer(1), .integer(2)) == "http.port (1 before, 2 now)")
        #expect(
            try summary("http.certificate", .string(""), .string("a")) == "http.certificate (nothing before, a now)")
        #expect(
            try summary("relay.peers.allow", .strings(["a", "b"]), .strings(["b", "c"]))
                == "relay.peers.allow (added c; removed a)")
        #expect(
            try summary("relay.peers.allow", .strings(["a", "b"]), .strings(["b", "a"]))
                == "relay.peers.allow (another order)")
    }

    @Test func secretsAreCounted() throws {
        let users = try summary(
            "relay.users", .map(["a": "one", "b": "two", "c": "three"]), .map(["a": "one", "b": "2", "d": "four"]))
        #expect(users == "relay.users (added d; removed c; changed b)")
        let secrets = try summary("relay.secrets", .strings(["one", "two"]), .strings(["three", "one"]))
        #expect(secrets == "relay.secrets (2 before, 2 now, 1 new)")
    }

    /// A setting with the name of a secret must be marked as secret.
    @Test func settingsWithNamesOfSecretsAreSecret() {
        for setting in SettingsTable.all {
            let name = setting.key.split(separator: ".").last?.lowercased() ?? ""
            if ["users", "secrets", "secret", "password", "oauthkeys"].contains(name) {
                #expect(setting.isSecret, "\(setting.key)")
            }
        }
    }
}

@Suite struct ConfigurationPathTests {
    @Test func anErrorIsPrefixedWithTheLocationOfItsSetting() throws {
        let file = try ScratchDirectory().file("switchboard.yaml")
        try "http:\n  port: 1\nrelay:\n  realm: x\n".write(toFile: file, atomically: true, encoding: .utf8)
        let configuration = try ServerConfiguration(
            file: file, arguments: ["--relay-port", "7"], environment: ["SWITCHBOARD_LOG_LEVEL": "debug"])
        func message(_ text: String) -> String { configuration.located(ConfigurationError(text)).description }
        #expect(message("relay.realm: is bad") == "\(file):4: relay.realm: is bad")
        #expect(message("relay.port (7) is bad") == "The command line's --relay-port: relay.port (7) is bad")
        #expect(message("log.level is bad") == "The environment's SWITCHBOARD_LOG_LEVEL: log.level is bad")
        #expect(message("relay.minPort is bad") == "relay.minPort is bad")
        #expect(message("something else") == "something else")
    }

    @Test func aReloadKeepsWhatItDoesNotReplace() throws {
        let old = try ServerConfiguration(file: nil, arguments: ["--http-port", "1", "--log-level", "info"])
        let new = try ServerConfiguration(file: nil, arguments: ["--http-port", "2", "--log-level", "debug"])
        let merged = old.replacing(["log.level"], from: new)
        #expect(merged[\.http.port] == 1)
        #expect(merged[\.log.level] == .debug)
    }
}
