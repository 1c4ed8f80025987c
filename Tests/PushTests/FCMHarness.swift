import CryptoExtras
import Foundation
import HTTPTestSupport
import Notifications
import Push
import Testing
import Tokens

/// A service account and what it talks to, over TLS.
struct FCMHarness: Sendable {
    private static let key = try? _RSA.Signing.PrivateKey(keySize: .bits2048)

    let sender: FCMSender
    let server: ScriptedServer
    let clock: TestClock

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
        try await PushServiceServer.run(script) { address, authorities, server in
            let clock = TestClock()
            let sender = FCMSender(
                try account(tokenURL: address + "/token"), url: address, authorities: authorities, timeout: timeout
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
