import Synchronization
import TestSupport
import Testing

@testable import Server

@Suite("What switchboard check tries")
struct ServerCheckTests {
    private static let everything = Set(ServerRole.allCases)

    private func server(_ state: RunningServer.State) -> RunningServer { RunningServer(state: state) { _ in nil } }

    private func check(
        _ arguments: [String] = [], _ change: (inout ServerCheck.Options) -> Void = { _ in }
    ) throws -> ServerCheck {
        var options = ServerCheck.Options()
        change(&options)
        let secret = ["--relay-secrets", "a secret of the tests, long enough"]
        return try ServerCheck(ServerConfiguration(file: nil, arguments: secret + arguments), options)
    }

    /// The outcome of the first check of a subject.
    private func outcome(_ subject: CheckSubject, _ probes: [CheckProbe]) async throws -> CheckOutcome {
        try await #require(probes.first { $0.subject == subject }).run()
    }

    @Test("every part has a check, in this order") func parts() throws {
        let probes = try check(["--relay-listen", "127.0.0.1"]).probes(server(.running(Self.everything)))
        #expect(
            probes.map(\.subject) == [
                .configuration, .server, .http, .certificate, .realtime, .realtime, .gateway, .relay, .relay, .keys,
                .webhooks, .push, .translation, .meaning, .explanation, .transcription, .storage,
            ])
        #expect(probes.contains { $0.name == "HTTP http://127.0.0.1:8080" })
        #expect(probes.contains { $0.name == "UDP 127.0.0.1:3478" })
    }

    @Test("roles that the server does not have are not configured", arguments: ServerRole.allCases)
    func roles(role: ServerRole) async throws {
        let probes = try check().probes(server(.running(Self.everything.subtracting([role]))))
        let subjects: [CheckSubject] =
            switch role {
            case .api:
                [
                    .http, .certificate, .realtime, .keys, .webhooks, .push, .translation, .meaning, .explanation,
                    .transcription,
                ]
            case .relay: [.relay]
            case .gateway: [.gateway]
            }
        for subject in subjects {
            #expect(
                try await outcome(subject, probes) == .notConfigured("the server runs without the role \(role)"))
        }
    }

    @Test("without a server the gateway is skipped, and the rest is tried") func absent() async throws {
        let problem = CheckProblem("no server listens on x", remedy: "Start it.")
        let probes = try check().probes(server(.absent(problem)))
        #expect(try await outcome(.server, probes) == .failed(problem))
        #expect(probes.first { $0.subject == .gateway }?.needs == [.server])
        #expect(probes.first { $0.subject == .http }?.needs == [])
    }

    @Test("from another machine, what only the server's own can tell is skipped") func remote() async throws {
        let remote = try check { $0.address = "203.0.113.5" }
        let probes = remote.probes(server(.remote))
        let subjects: [CheckSubject] = [
            .server, .gateway, .keys, .webhooks, .push, .translation, .meaning, .explanation, .transcription, .storage,
        ]
        for subject in subjects {
            #expect(try await outcome(subject, probes).status == .skipped, "\(subject)")
        }
        #expect(remote.webAddress?.description == "http://203.0.113.5:8080")
        // The API behind a proxy on the server's machine.
        let hidden = try check(["--http-host", "127.0.0.1"]) { $0.address = "203.0.113.5" }
        #expect(try await outcome(.http, hidden.probes(server(.remote))).status == .skipped)
        let named = try check(["--http-host", "127.0.0.1"]) {
            ($0.address, $0.url) = ("203.0.113.5", "https://calls.example.org")
        }
        #expect(named.probes(server(.remote)).contains { $0.name == "Certificate https://calls.example.org" })
    }

    @Test("the API's address is that of the settings, or of --url") func addresses() throws {
        #expect(try check().webAddress?.description == "http://127.0.0.1:8080")
        #expect(try check(["--http-host", "::", "--http-port", "80"]).webAddress?.description == "http://[::1]")
        #expect(try check(["--http-certificate", "a.pem"]).webAddress?.description == "https://127.0.0.1:8080")
        #expect(try check(["--http-port", "0"]).webAddress == nil)
        #expect(try check { $0.url = "https://h.example/x/" }.webAddress?.description == "https://h.example/x")
    }

    @Test(
        "options that are not valid are named", arguments: ["ftp://h", "h", "https://", "https://u@h", "https://h?x"])
    func badOptions(url: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try check { $0.url = url } }
        #expect(error.description.hasPrefix("--url \(url) is not"))
        #expect(throws: ConfigurationError.self) { try check { $0.address = "h.example" } }
    }

    @Test("relay settings that cannot be used fail their check") func badRelay() async throws {
        let probes = try check(["--relay-listen", "nonsense"]).probes(server(.running(Self.everything)))
        guard case .failed(let problem) = try await outcome(.relay, probes) else {
            Issue.record("The check of the relay works.")
            return
        }
        #expect(problem.detail.contains("relay.listen: nonsense is not an IP address"))
    }

    @Test("the running server is asked for its roles") func finding() async {
        let found = await RunningServer.find(isRemote: false, path: "p") { _ in
            ControlResponse(lines: ["api", "relay"])
        }
        #expect(found.state == .running([.api, .relay]) && found.lacks(.gateway) && !found.lacks(.api))
        let none = await RunningServer.find(isRemote: false, path: "p") { _ in nil }
        guard case .absent(let problem) = none.state else {
            Issue.record("A server was found.")
            return
        }
        #expect(problem.detail == "no server listens on p" && !none.lacks(.gateway))
        let old = await RunningServer.find(isRemote: false, path: "p") { _ in ControlResponse(error: "what?") }
        #expect(!old.isRunning)
        let remote = await RunningServer.find(isRemote: true, path: "p") { _ in
            Issue.record("A server on this machine was asked.")
            return nil
        }
        #expect(remote.state == .remote)
    }

    @Test("free space is compared with media.minFreeBytes") func disk() throws {
        let probe = StorageProbe(directory: "/d", minFreeBytes: 100_000_000)
        #expect(probe.evaluate([("/d", 900_000_000)]) == .passed("900 MB are free on the disk of /d"))
        #expect(probe.evaluate([("/d", 900_000_000), ("/d/media", 150_000_000)]).status == .warning)
        guard case .failed(let problem) = probe.evaluate([("/d", 900_000_000), ("/d/media", 99_000_000)]) else {
            Issue.record("Too little space is enough.")
            return
        }
        #expect(problem.detail.contains("99 MB are free on the disk of /d/media, and media.minFreeBytes is 100 MB"))
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        #expect(StorageProbe(directory: directory.file("none"), minFreeBytes: 0).run().status == .failed)
        #expect(StorageProbe(directory: directory.path, minFreeBytes: 1).run().status == .ok)
        #expect(StorageProbe(directory: directory.path, minFreeBytes: .max).run().status == .failed)
    }
}
