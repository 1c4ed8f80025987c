import HTTPTestSupport
import NIOHTTP1
import NIOSSL
import TestSupport
import Testing
import Webhooks

@testable import Providers

@Suite(.timeLimit(.minutes(3))) struct WebhookClientTests {
    private let client = WebhookClient(host: "localhost", address: "127.0.0.1")

    private func post(
        to url: String, by client: WebhookClient? = nil, seconds: Int = 60
    ) async throws -> ProviderClient.Response {
        try await (client ?? self.client).post(
            Array("{}".utf8), to: #require(WebhookURL(url)), headers: [("webhook-id", "1")], maxResponseSize: 1_000,
            excess: .dropped, deadline: .now + .seconds(seconds))
    }

    private func failure(_ body: () async throws -> ProviderClient.Response) async -> ProviderFailure? {
        do {
            Issue.record("\(try await body())")
            return nil
        } catch {
            return error as? ProviderFailure
        }
    }

    @Test func aConnectionIsKeptForTheNextRequest() async throws {
        try await ScriptedServer.run { request in
            .response(200, request.path, request.path == "/last" ? [("Connection", "close")] : [])
        } _: { address, server in
            for path in ["/", "?a=b&c", "/last", "/new"] {
                let response = try await post(to: address + path)
                #expect(String(decoding: response.body, as: UTF8.self) == (path.hasPrefix("?") ? "/" + path : path))
            }
            let ports = server.requests.map(\.port)
            #expect(Set(ports).count == 2 && Set(ports.prefix(3)).count == 1)
            let request = try #require(server.requests.first)
            #expect("http://" + (request.headers.first(name: "Host") ?? "") == address)
            #expect(request.headers.first(name: "User-Agent") == "Switchboard")
            #expect(request.body == Array("{}".utf8))
        }
    }

    @Test func requestsAtTheSameTimeHaveConnectionsOfTheirOwn() async throws {
        let silent = Shared(0)
        try await ScriptedServer.run { request in
            guard request.path == "/silent" else { return .response(204, "") }
            silent.update { $0 += 1 }
            return .hang
        } _: { address, server in
            let tasks = (0..<100).map { _ in Task { await failure { try await post(to: address + "/silent") } } }
            try await eventually { silent.value == 100 }
            let response = try await post(to: address)
            #expect(response.status == 204)
            #expect(Set(server.requests.map(\.port)).count == 101)
            for task in tasks { task.cancel() }
            for task in tasks { #expect(await task.value == .cancelled) }
        }
    }

    @Test func aCancelledTaskSendsNothing() async throws {
        try await ScriptedServer.run { _ in
            .response(200, "")
        } _: { address, server in
            let task = Task { () -> ProviderFailure? in
                while !Task.isCancelled { await Task.yield() }
                return await failure { try await post(to: address) }
            }
            task.cancel()
            #expect(await task.value == .cancelled)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func aConnectionThatIsLostFailsItsRequestAlone() async throws {
        try await ScriptedServer.run { request in
            request.path == "/lost" ? .hangUp : .response(200, "")
        } _: { address, _ in
            for _ in 0..<3 {
                let response = try await post(to: address)
                #expect(response.status == 200)
                let lost = await failure { try await post(to: address + "/lost") }
                #expect(lost == .unreachable("it closed the connection"))
            }
        }
        let refused = await failure { try await post(to: "http://localhost:9/") }
        #expect(refused == .unreachable("the connection was refused or lost"))
    }

    @Test func whatIsLeftOfALongResponseIsNotTakenForTheNextOne() async throws {
        try await ScriptedServer.run { request in
            request.path == "/long" ? .response(500, String(repeating: "x", count: 100_000)) : .response(200, "")
        } _: { address, server in
            for _ in 0..<3 {
                let long = try await post(to: address + "/long")
                #expect(long.status == 500 && long.body.count == 1_000)
                let next = try await post(to: address)
                #expect(next.status == 200)
            }
        }
    }

    @Test func theDeadlineEndsARequest() async throws {
        try await ScriptedServer.run { _ in
            .hang
        } _: { address, _ in
            let late = await failure { try await post(to: address, seconds: 0) }
            #expect(late == .timedOut)
        }
    }

    @Test func certificatesAreVerified() async throws {
        let files = try TestCertificate.make()
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
        let server = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        var trusting = TLSConfiguration.makeClientConfiguration()
        trusting.trustRoots = .certificates(chain)
        let context = try NIOSSLContext(configuration: trusting)
        try await ScriptedServer.run(encryption: server) { _ in
            .response(200, "")
        } _: { address, server in
            // By its name, and by its address.
            for host in ["localhost", "127.0.0.1"] {
                let client = WebhookClient(host: host, address: "127.0.0.1") { context }
                for _ in 0..<2 {
                    let response = try await post(to: address, by: client)
                    #expect(response.status == 200)
                }
            }
            #expect(Set(server.requests.map(\.port)).count == 2)
            // Signed by nobody who is trusted.
            guard case .unreachable = await failure({ try await post(to: address) }) else {
                Issue.record("It was accepted.")
                return
            }
            #expect(server.requests.count == 4)
        }
    }
}
