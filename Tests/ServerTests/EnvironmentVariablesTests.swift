import Testing

@testable import Server

@Suite struct EnvironmentVariablesTests {
    private func message(_ environment: [String: String]) -> String {
        do {
            _ = try EnvironmentVariables.settings(in: environment)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("SWITCHBOARD_HTP_PORT", "Did you mean SWITCHBOARD_HTTP_PORT?"),
        ("SWITCHBOARD_STORAGE_DIR", "SWITCHBOARD_STORAGE_DIR is not a setting."),
        ("SWITCHBOARD_RELAY_LISTENS", "Did you mean SWITCHBOARD_RELAY_LISTEN?"), ("SWITCHBOARD_", "is not a setting"),
    ])
    func anUnknownNameIsAnErrorThatNamesTheNearest(name: String, expected: String) {
        #expect(message([name: "1"]).contains(expected), "\(message([name: "1"]))")
    }

    @Test func otherProgramsVariablesAreIgnored() throws {
        let environment = ["PATH": "/bin", "MY_SWITCHBOARD_PORT": "1", "DEV_SWITCHBOARD_SEED": "1", "SWITCHBOARD": "1"]
        #expect(try EnvironmentVariables.settings(in: environment).isEmpty)
    }

    /// What Kubernetes 1.34 sets for a service `switchboard` with two named ports, and for `switchboard-relay`.
    @Test func variablesOfKubernetesAreIgnored() throws {
        let environment = [
            "SWITCHBOARD_SERVICE_HOST": "10.0.0.11", "SWITCHBOARD_SERVICE_PORT": "8080",
            "SWITCHBOARD_SERVICE_PORT_HTTP": "8080", "SWITCHBOARD_PORT": "tcp://10.0.0.11:8080",
            "SWITCHBOARD_PORT_8080_TCP": "tcp://10.0.0.11:8080", "SWITCHBOARD_PORT_8080_TCP_PROTO": "tcp",
            "SWITCHBOARD_PORT_8080_TCP_PORT": "8080", "SWITCHBOARD_PORT_8080_TCP_ADDR": "10.0.0.11",
            "SWITCHBOARD_RELAY_SERVICE_HOST": "10.0.0.12", "SWITCHBOARD_RELAY_SERVICE_PORT_TURN": "3478",
            // The name of a setting: the value tells whose it is.
            "SWITCHBOARD_RELAY_PORT": "udp://10.0.0.12:3478", "SWITCHBOARD_RELAY_PORT_3478_UDP": "udp://10.0.0.12:3478",
        ]
        #expect(try EnvironmentVariables.settings(in: environment).isEmpty)
        #expect(try ServerConfiguration(file: nil, environment: environment)[\.relay.port] == 3478)
        #expect(
            try EnvironmentVariables.settings(in: ["SWITCHBOARD_RELAY_PORT": "9"]) == ["SWITCHBOARD_RELAY_PORT": "9"])
    }

    @Test(arguments: ["SWITCHBOARD_PORT", "SWITCHBOARD_SERVICE", "SWITCHBOARD_PORT_X_TCP", "SWITCHBOARD_SERVICE_HOSTS"])
    func whatOnlyResemblesThemIsAnError(name: String) {
        #expect(message([name: "8080"]).contains("\(name) is not a setting."))
    }

    @Test func everySettingButMapsHasAVariable() throws {
        for setting in SettingsTable.all where !setting.isOnlyInFiles {
            let name = ServerConfiguration.variable(for: setting.key)
            #expect(try EnvironmentVariables.settings(in: [name: "x"]) == [name: "x"])
        }
    }

    @Test func theEditDistanceIsLevenshteins() {
        func distance(_ first: String, _ second: String) -> Int {
            SimilarNames.editDistance(Array(first.utf8), Array(second.utf8))
        }
        #expect(distance("kitten", "sitting") == 3 && distance("sitting", "kitten") == 3)
        #expect(distance("", "abc") == 3 && distance("abc", "") == 3 && distance("abc", "abc") == 0)
        #expect(distance("flaw", "lawn") == 2)
        #expect(SimilarNames.of(String(repeating: "x", count: 100_000), among: ["x"]).isEmpty)
    }
}
