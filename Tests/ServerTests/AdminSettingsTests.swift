import Foundation
import TestSupport
import Testing
import WebAPI

@testable import Server

/// The settings of the operator's port, and what its page shows of all settings.
@Suite struct AdminSettingsTests {
    private func load(_ yaml: String) throws -> ServerConfiguration {
        let file = try ScratchDirectory().file("switchboard.yaml")
        try yaml.write(toFile: file, atomically: true, encoding: .utf8)
        return try ServerConfiguration(file: file)
    }

    private func refusal(_ yaml: String) throws -> String {
        do {
            _ = try AdminSettings(load(yaml))
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: ["127.0.0.1", "localhost", "\"::1\""]) func loopbackNeedsNoCertificate(_ host: String) throws {
        #expect(try refusal("admin: {host: \(host)}") == "")
    }

    @Test(arguments: ["0.0.0.0", "\"::\"", "192.0.2.1", "ops.example.com"])
    func otherAddressesNeedOne(_ host: String) throws {
        let refusal = try refusal("admin: {host: \(host)}")
        #expect(refusal.hasPrefix("admin.host: ") && refusal.contains("admin.certificate"))
    }

    @Test func aCertificateNeedsItsKey() throws {
        #expect(try refusal("admin: {certificate: /nowhere.pem}").contains("admin.privateKey go together"))
        let missing = try refusal("admin: {certificate: /nowhere.pem, privateKey: /nowhere.pem}")
        #expect(missing.hasPrefix("admin.certificate: /nowhere.pem"))
    }

    @Test func theReportHasNoSecret() throws {
        let configuration = try load(
            """
            http: {port: 9000}
            relay: {users: {alice: wonderland}, secrets: [one long secret, another one]}
            transcription: {apiKey: sk-secret}
            accounts: {issuers: [{issuer: "https://i.example", audience: app, jwksURL: "https://i.example/keys"}]}
            """)
        let report = Dictionary(uniqueKeysWithValues: configuration.report.map { ($0.key, $0) })
        #expect(report.count == SettingsTable.all.count)
        #expect(report["http.port"]?.value == "9000" && report["http.port"]?.isDefault == false)
        #expect(report["http.port"]?.source?.hasSuffix("switchboard.yaml:1") == true)
        #expect(report["http.host"]?.isDefault == true && report["http.host"]?.source == nil)
        #expect(report["relay.users"]?.value == "{alice: …}")
        #expect(report["relay.secrets"]?.value == "2 set")
        #expect(report["relay.oauthKeys"]?.value == "{}")
        #expect(report["transcription.apiKey"]?.value == "set")
        #expect(report["transcription.webhookSecret"]?.value == "\"\"")
        #expect(
            report["accounts.issuers"]?.value
                == "audience: app, issuer: https://i.example, jwksURL: https://i.example/keys")
        let all = configuration.report.flatMap { [$0.value, $0.defaultValue, $0.source ?? ""] }.joined(separator: "\n")
        #expect(!["wonderland", "long secret", "another one", "sk-secret"].contains(where: all.contains))
    }
}
