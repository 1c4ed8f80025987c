import CryptoExtras
import Foundation
import HTTPTestSupport
import Model
import NIOSSL
import Notifications
import Push
import Synchronization
import TestSupport
import Testing
import Tokens

/// A service account and what it talks to, over TLS.
struct FCMHarness: Sendable {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    let sender: FCMSender
    let server: ScriptedServer
    let clock: Clock

    final class Clock: Sendable {
        private let time = Mutex(Timestamp(milliseconds: 1_800_000_000_000))
        var now: Timestamp { time.withLock { $0 } }
        func advance(seconds: Int64) { time.withLock { $0 = $0.adding(seconds: seconds) } }
    }

    var tokenRequests: [ScriptedServer.Request] { server.requests.filter { $0.path == "/token" } }
    var messages: [ScriptedServer.Request] { server.requests.filter { $0.path != "/token" } }

    static func token(_ text: String, seconds: Int = 3_600) -> ScriptedServer.Reply {
        .response(200, #"{"access_token":"\#(text)","expires_in":\#(seconds),"token_type":"Bearer"}"#)
    }

    static let taken = ScriptedServer.Reply.response(200, #"{"name":"projects/an-app/messages/1"}"#)

    static let message = PushMessage(
        address: .fcm("cRx:APA91b"), payload: Array(#"{"kind":"test"}"#.utf8), secondsToLive: 60, isUrgent: true,
        topic: "a")

    static func run(
        timeout: Duration = .seconds(60), _ script: @escaping ScriptedServer.Script,
        _ body: (FCMHarness) async throws -> Void
    ) async throws {
        let files = try TestCertificate.make()
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
        let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
        let encryption = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key)))
        try await ScriptedServer.run(encryption: encryption, script) { address, server in
            let clock = Clock()
            let sender = FCMSender(
                try account(tokenURL: address + "/token"), url: address, authorities: files.certificate,
                timeout: timeout
            ) { clock.now }
            try await body(FCMHarness(sender: sender, server: server, clock: clock))
        }
    }

    private static func account(tokenURL: String) throws -> GoogleServiceAccount {
        let members = [
            "type": "service_account", "project_id": "an-app", "private_key": try #require(key).pemRepresentation,
            "client_email": "push@an-app.example", "token_uri": tokenURL,
        ]
        let file = FileManager.default.temporaryDirectory.appending(path: "account-\(UUID().uuidString).json")
        try JSONEncoder().encode(members).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try GoogleServiceAccount(file: file.path)
    }
}
