import DatagramIO
import Foundation
import Wire

/// Tests realtime as a client uses it: a WebSocket, or server-sent events, and a hello.
///
/// With a token of the running server the hello succeeds, as an identity that is nowhere stored. Without one, from
/// another machine, it is refused for its token, which proves the way there and back.
struct RealtimeProbe: Sendable {
    let address: WebAddress
    let messages: WebMessages
    let name: String?
    let authorities: String?
    /// Nil if no token can be had; throws if the server does not give one.
    let token: @Sendable () async throws(CheckProblem) -> String?

    // MARK: WebSocket

    func runWebSocket() async -> CheckOutcome {
        await run { (token: String?) throws(WebConnection.Failure) -> CheckOutcome in
            var connection = try WebConnection.open(address, name: name, authorities: authorities)
            let response = try connection.upgrade("/v1/realtime", at: address)
            guard response.status == 101 else { return .failed(upgradeProblem(response)) }
            try connection.send(text: #"{"id":1,"hello":\#(Self.hello(token))}"#)
            let deadline = WebConnection.deadline
            while true {
                guard let frame = try connection.nextFrame() else {
                    if connection.isClosed { throw .socket(.closed) }
                    try connection.receive(until: deadline)
                    continue
                }
                guard frame.opcode == 1 else { continue }
                return evaluate(frame.payload, token, over: "a WebSocket")
            }
        }
    }

    private func upgradeProblem(_ response: WebResponse) -> CheckProblem {
        switch response.status {
        case 426, 400, 404, 405:
            CheckProblem(
                "no WebSocket: /v1/realtime responds with \(response.status)",
                remedy: "Let the proxy use HTTP/1.1 there and pass on `Upgrade: websocket` and `Connection: Upgrade`.")
        default: messages.problem(response, of: "/v1/realtime")
        }
    }

    // MARK: Server-sent events

    func runEvents() async -> CheckOutcome {
        await run { (token: String?) throws(WebConnection.Failure) -> CheckOutcome in
            var connection = try WebConnection.open(address, name: name, authorities: authorities)
            connection.resetOnClose()
            try connection.request(
                "POST", "/v1/realtime/sse", at: address, headers: [("Content-Type", "application/json")],
                body: Self.hello(token))
            let response = try connection.receiveHead()
            switch response.status {
            case 200: break
            // Refused before the stream begins, by the server and not by a proxy that wants a password.
            case 401 where response.headers["content-type"] == "application/problem+json":
                return evaluateRefusal(token, over: "server-sent events")
            default: return .failed(messages.problem(response, of: "/v1/realtime/sse"))
            }
            let deadline = WebConnection.deadline
            while true {
                // In one event, whatever chunks it is cut into: a hello's result is short.
                if let end = connection.received.firstEnd(of: Array("\n\n".utf8)),
                    let line = String(decoding: connection.received.prefix(end), as: UTF8.self)
                        .split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("data:") })
                {
                    return evaluate(
                        Array(line.dropFirst("data:".count).utf8), token, over: "server-sent events")
                }
                if connection.isClosed { throw .socket(.closed) }
                do throws(WebConnection.Failure) {
                    try connection.receive(until: deadline)
                } catch .silent {
                    return .failed(
                        CheckProblem(
                            "the events do not arrive, though the stream began",
                            remedy: "Let the proxy pass them on at once, unbuffered (nginx: proxy_buffering off)."))
                }
            }
        }
    }

    // MARK: Both

    private func run(_ body: (String?) throws(WebConnection.Failure) -> CheckOutcome) async -> CheckOutcome {
        let given: String?
        do throws(CheckProblem) {
            given = try await token()
        } catch {
            return .failed(error)
        }
        do throws(WebConnection.Failure) {
            return try body(given)
        } catch {
            return .failed(messages.problem(error))
        }
    }

    /// The object of a hello.
    private static func hello(_ token: String?) -> String {
        let client = #"{"name":"switchboard-check","version":"\#(ServerVersion.text)"}"#
        return #"{"token":"\#(token ?? "switchboard-check")","client":\#(client)}"#
    }

    /// - Parameter payload: the text of the first frame: the hello's result, or an error.
    private func evaluate(_ payload: [UInt8], _ token: String?, over transport: String) -> CheckOutcome {
        guard let frame = (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any] else {
            return .failed(messages.problem(.malformed))
        }
        if let result = frame["result"] as? [String: Any], result["session"] is String {
            return .passed("\(transport), and a hello of an identity that is nowhere stored")
        }
        guard let error = frame["error"] as? [String: Any], let type = error["type"] as? String else {
            return .failed(
                CheckProblem("the hello got no result over \(transport)", remedy: "Look at the server's log."))
        }
        if type == "unauthenticated" { return evaluateRefusal(token, over: transport) }
        return .failed(
            CheckProblem(
                "the hello was refused over \(transport): \(error["detail"] as? String ?? type)",
                remedy: type == "rate_limited" ? "Wait a minute." : "Look at the server's log."))
    }

    private func evaluateRefusal(_ token: String?, over transport: String) -> CheckOutcome {
        guard token != nil else {
            return .passed("\(transport), and the refusal of a hello without an account")
        }
        return .failed(
            CheckProblem(
                "the hello over \(transport) reached another server than that of the data directory",
                remedy: "Let \(address) lead to the server of this configuration's storage.path."))
    }
}
