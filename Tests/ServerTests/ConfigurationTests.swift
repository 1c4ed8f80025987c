import Foundation
import Logging
import TestSupport
import Testing

@testable import Server

@Suite struct ConfigurationTests {
    private func load(_ yaml: String, _ arguments: [String] = [], _ environment: [String: String] = [:]) throws
        -> ServerConfiguration
    {
        let file = try ScratchDirectory().file("switchboard.yaml")
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
        return try ServerConfiguration(file: file, arguments: arguments, environment: environment)
    }

    private func message(_ yaml: String, _ arguments: [String] = [], _ environment: [String: String] = [:]) -> String {
        do {
            _ = try load(yaml, arguments, environment)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test func commandLineWinsOverEnvironmentOverFileOverDefault() throws {
        #expect(try load("")[\.http.port] == 8080)
        #expect(try load("http: {port: 1}")[\.http.port] == 1)
        #expect(try load("http: {port: 1}", [], ["SWITCHBOARD_HTTP_PORT": "2"])[\.http.port] == 2)
        let all = try load("http: {port: 1}", ["--http-port", "3"], ["SWITCHBOARD_HTTP_PORT": "2"])
        #expect(all[\.http.port] == 3)
    }

    @Test func everyKindOfValueIsRead() throws {
        let configuration = try load(
            """
            relay:
              users: {alice: secret, "0123": pass}
              peers: {allow: ["10.0.0.0/8", "::1/128"]}
            accounts:
              issuers: [{issuer: i, audience: a, jwksURL: u}]
            log: {level: debug}
            """, ["--http-allowed-origins", "https://a", "--http-allowed-origins", "https://b"])
        #expect(configuration[\.relay.users] == ["alice": "secret", "0123": "pass"])
        #expect(configuration[\.relay.peers.allow] == ["10.0.0.0/8", "::1/128"])
        #expect(configuration[\.accounts.issuers] == [["issuer": "i", "audience": "a", "jwksURL": "u"]])
        #expect(configuration[\.log.level] == .debug)
        #expect(configuration[\.http.allowedOrigins] == ["https://a", "https://b"])
        let fromEnvironment = try load("", [], ["SWITCHBOARD_RELAY_LISTEN": "127.0.0.1,::1"])
        #expect(fromEnvironment[\.relay.listen] == ["127.0.0.1", "::1"])
    }

    @Test func anUnknownKeyIsNamedWithItsLine() {
        #expect(message("http:\n  prot: 80").contains(":2: unknown setting http.prot"))
        #expect(message("relay:\n  Port: 80").contains("Did you mean"))
        #expect(message("port: 80").contains("unknown setting port"))
        #expect(message("", ["--http-prot", "80"]).contains("--http-prot"))
    }

    @Test(arguments: [
        ("http: {port: eighty}", "http.port must be a whole number from 0 to 65535"),
        ("http: {port: 70000}", "http.port must be"), ("log: {level: loud}", "log.level must be one of trace"),
        ("relay: {listen: 127.0.0.1}", "relay.listen must be a list of texts"),
        ("relay: {users: [a]}", "relay.users must be a map"), ("http: 8080", "http must contain further keys"),
        ("accounts: {issuers: [{issuer: i}]}", "issuer, audience, jwksURL"), ("[1, 2]", "must contain keys and values"),
        ("a: b: c", "not valid YAML"),
    ])
    func aBadValueIsNamed(yaml: String, expected: String) {
        #expect(message(yaml).contains(expected))
    }

    @Test func aBadValueOfTheEnvironmentOrTheCommandLineIsNamed() {
        #expect(
            message("", [], ["SWITCHBOARD_HTTP_PORT": "x"]).contains("SWITCHBOARD_HTTP_PORT must be a whole number"))
        #expect(message("", ["--relay-min-port", "80"]).contains("--relay-min-port must be a whole number from 1024"))
    }

    @Test(arguments: [
        ("http:\n  prot: 80", "Did you mean http.port?"), ("http:\n  Port: 80", "Did you mean http.port?"),
        ("relay: {relam: x}", "Did you mean relay.realm?"), ("voice: {mobility: x}", "Did you mean relay.mobility?"),
    ])
    func anUnknownKeyOfAFileNamesTheNearest(yaml: String, expected: String) {
        #expect(message(yaml).contains(expected), "\(message(yaml))")
    }

    @Test func anUnknownOptionNamesTheNearest() {
        #expect(
            message("", ["--storage-pth", "x"]).contains("Unknown option --storage-pth. Did you mean --storage-path?"))
        #expect(!message("", ["--quite-something-else", "x"]).contains("Did you mean"))
    }

    @Test(arguments: [
        ["es"], ["es", "--http-port", "1"], ["--http-port", "1", "es"], ["--http-port=1", "es"],
        ["--relay-tls-ports=1", "es"],
    ])
    func anArgumentThatIsTheValueOfNoOptionIsAnError(arguments: [String]) {
        #expect(message("", arguments).contains("Unexpected argument es"), "\(message("", arguments))")
    }

    @Test(arguments: [
        ["--http-port", "1", "--http-port", "2"], ["--http-port=1", "--http-port", "1"],
        ["--log-level=debug", "--log-level=info"],
        ["--relay-mobility", "--relay-mobility"],
    ])
    func anOptionThatIsGivenTwiceIsAnError(arguments: [String]) {
        let name = arguments[0].split(separator: "=")[0]
        #expect(message("", arguments).contains("\(name) is given twice: give it once."), "\(message("", arguments))")
    }

    @Test func aListMayRepeatItsOption() throws {
        let configuration = try load("", ["--relay-tls-ports", "1", "--relay-tls-ports=2"])
        #expect(configuration[\.relay.tlsPorts] == [1, 2])
    }

    @Test func aMapIsReadFromTheFileAlone() {
        let option = message("", ["--relay-users", "a=b"])
        #expect(option.contains("--relay-users") && option.contains("set relay.users in the configuration file"))
        let variable = message("", [], ["SWITCHBOARD_RELAY_USERS": "a=b"])
        #expect(variable.contains("SWITCHBOARD_RELAY_USERS") && variable.contains("in the configuration file"))
    }

    @Test func aMissingFileIsNamed() {
        #expect(throws: ConfigurationError.self) { try ServerConfiguration(file: "/nonexistent/s.yaml") }
    }

    @Test func theReferenceFileIsInTheRepositoryAndHoldsTheDefaults() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Config/switchboard.yaml")
        let text = try String(contentsOf: path, encoding: .utf8)
        #expect(text == ReferenceFile.text, "run `switchboard settings > Config/switchboard.yaml`")
        _ = try load(text)
        // Every line uncommented is the defaults, too.
        let uncommented = text.split(separator: "\n").filter {
            !$0.hasPrefix("# A flag") && !$0.hasPrefix("# What says") && !$0.hasPrefix("# Every")
                && !$0.hasPrefix("# Written")
        }
        .map { $0.dropFirst(2) }.joined(separator: "\n")
        let configuration = try load(uncommented)
        for setting in SettingsTable.all {
            #expect(configuration.value(of: setting) == setting.defaultValue, "\(setting.key)")
        }
    }
}
