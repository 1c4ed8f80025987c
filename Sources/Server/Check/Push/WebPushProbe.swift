import DatagramIO
import Foundation
import Push
import Tokens
import Wire

/// Subscribes at a push service as Firefox does, by the protocol of Mozilla's Autopush, and has the server push to that
/// subscription: what comes back and can be decrypted shows that pushes reach browsers.
struct WebPushProbe: Sendable {
    /// How long the service may take to respond, and a push to come back.
    private static let nanoseconds: UInt64 = 15_000_000_000

    let address: WebAddress
    /// With which browsers subscribe, base64url.
    let serverKey: String
    /// Asks the server for a push. Returns why the service would not take it; nil if it has.
    let push: @Sendable (CheckRequest) async throws(CheckProblem) -> String?

    /// - Parameter text: `wss://` and a host, maybe a port and a path; `ws://` for a service on this machine.
    static func address(_ text: String) -> WebAddress? {
        guard text.hasPrefix("wss://") || text.hasPrefix("ws://") else { return nil }
        return WebAddress("http" + text.dropFirst(2))
    }

    /// Throws what is wrong.
    func run() async throws(CheckProblem) {
        var connection = try connect()
        let channel = UUID().uuidString.lowercased()
        let endpoint = try subscribe(channel, over: &connection)
        let subscription = WebPushSubscription()
        let text = "switchboard check \(UUID().uuidString)"
        let reason = try await push(
            .webPush(
                endpoint: endpoint, publicKey: subscription.publicKey, authSecret: subscription.authSecret, text: text))
        if let reason {
            throw CheckProblem(
                "the push service of browsers takes no pushes\(CheckProblem.clause(reason))",
                remedy: "Let this machine reach push services by HTTPS, set its clock, and set push.web.contact.")
        }
        let received = try receive("notification", on: channel, over: &connection)
        guard let data = (received["data"] as? String).flatMap(Base64URL.decode),
            subscription.decrypt(data) == Array(text.utf8)
        else {
            throw CheckProblem("a push to a browser arrived and cannot be decrypted", remedy: "Please report it.")
        }
        // The subscription ends with the connection all the same.
        try? send(["messageType": "unregister", "channelID": channel], over: connection)
    }

    private func connect() throws(CheckProblem) -> WebConnection {
        let status: Int
        do throws(WebConnection.Failure) {
            var connection = try WebConnection.open(address)
            status = try connection.upgrade("/", at: address, protocol: "push-notification").status
            if status == 101 { return connection }
        } catch {
            throw problem(error)
        }
        throw CheckProblem(
            "\(address) responds with \(status) and is no push service of browsers", remedy: Self.remedy)
    }

    /// Returns the endpoint.
    private func subscribe(_ channel: String, over connection: inout WebConnection) throws(CheckProblem) -> String {
        try send(["messageType": "hello", "use_webpush": true, "broadcasts": [String: String]()], over: connection)
        _ = try receive("hello", over: &connection)
        try send(["messageType": "register", "channelID": channel, "key": serverKey], over: connection)
        guard let endpoint = try receive("register", on: channel, over: &connection)["pushEndpoint"] as? String else {
            throw CheckProblem("the push service of browsers gives no subscription", remedy: Self.remedy)
        }
        return endpoint
    }

    private func send(_ message: [String: Any], over connection: borrowing WebConnection) throws(CheckProblem) {
        guard let json = try? JSONSerialization.data(withJSONObject: message) else { return }
        do throws(WebConnection.Failure) {
            try connection.send(text: String(decoding: json, as: UTF8.self))
        } catch {
            throw problem(error)
        }
    }

    /// The next message of a type, of a channel if it has one. Others, such as broadcasts, are skipped.
    private func receive(
        _ type: String, on channel: String? = nil, over connection: inout WebConnection
    ) throws(CheckProblem) -> [String: Any] {
        let deadline = SystemClock.now().adding(nanoseconds: Self.nanoseconds)
        do throws(WebConnection.Failure) {
            while true {
                guard let frame = try connection.nextFrame() else {
                    if connection.isClosed { throw WebConnection.Failure.socket(.closed) }
                    try connection.receive(until: deadline)
                    continue
                }
                guard frame.opcode == 1,
                    let message = (try? JSONSerialization.jsonObject(with: Data(frame.payload))) as? [String: Any],
                    message["messageType"] as? String == type,
                    channel == nil || message["channelID"] as? String == channel
                else { continue }
                let status = message["status"] as? Int ?? 200
                if status == 200 { return message }
                throw WebConnection.Failure.socket(.other("the status of its \(type) is \(status)"))
            }
        } catch .silent {
            throw CheckProblem(
                type == "notification"
                    ? "a push that the push service of browsers has taken does not come back"
                    : "the push service of browsers does not respond", remedy: Self.remedy)
        } catch {
            throw problem(error)
        }
    }

    private static let remedy = "Try again later, or correct push.web.checkURL."

    private func problem(_ failure: WebConnection.Failure) -> CheckProblem {
        let detail = WebMessages(address: address, isPublic: true).problem(failure).detail
        return CheckProblem("the push service of browsers cannot be tried: \(detail)", remedy: Self.remedy)
    }
}
