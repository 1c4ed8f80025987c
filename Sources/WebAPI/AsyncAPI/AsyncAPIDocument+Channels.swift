import Realtime

// Channels, messages and operations.
extension AsyncAPIDocument {
    private static let socket = "realtime"
    private static let events = "eventStream"
    private static let eventFrames = "eventStreamFrames"
    /// The message that opens a stream of server-sent events.
    private static let opening = "openEventStream"
    private static let clientMessages = ClientFrameKind.allCases.map(name)
    private static let serverMessages = ServerFrameKind.allCases.map(name)

    /// The sides' heartbeats are two messages.
    private static func name(of frame: ClientFrameKind) -> String {
        frame == .heartbeat ? "clientHeartbeat" : frame.rawValue
    }

    private static func name(of frame: ServerFrameKind) -> String {
        frame == .heartbeat ? "serverHeartbeat" : frame.rawValue
    }

    var messages: [(String, JSON)] {
        let opening = Self.message(
            Self.opening, "The object of a hello frame, alone. Its result has the id 0.", ProtocolSchemas.hello)
        let client = ClientFrameKind.allCases.map { frame in
            Self.message(
                Self.name(of: frame), frame.summary, ProtocolSchemas.name(of: frame),
                [("examples", .array([.object([("payload", .raw(frame.example))])]))])
        }
        let server = ServerFrameKind.allCases.map { frame in
            Self.message(Self.name(of: frame), frame.summary, ProtocolSchemas.name(of: frame))
        }
        return client + server + [opening]
    }

    private static func message(
        _ name: String, _ summary: String, _ schema: String, _ others: [(String, JSON)] = []
    ) -> (String, JSON) {
        let members: [(String, JSON)] = [
            ("name", .text(name)), ("summary", .text(summary)), ("payload", ProtocolSchemas.reference(schema)),
        ]
        return (name, .object(members + others))
    }

    var channels: JSON {
        .object([
            (
                Self.socket,
                Self.channel(
                    "/v1/realtime", on: "websocket", Self.clientMessages + Self.serverMessages,
                    "A WebSocket without subprotocol and extensions, with text messages. Pages of other origins need "
                        + "`http.allowedOrigins`.",
                    [
                        (
                            "bindings",
                            .object([("ws", .object([("method", "GET"), ("bindingVersion", "0.1.0")]))])
                        )
                    ])
            ),
            (
                Self.events,
                Self.channel(
                    "/v1/realtime/sse", on: "http", [Self.opening] + Self.serverMessages, Self.eventStreamDescription)
            ),
            (
                Self.eventFrames,
                Self.channel(
                    "/v1/realtime/sse/{session}", on: "http", Self.clientMessages.filter { $0 != "hello" },
                    "The other direction of a stream of server-sent events: each request has one frame as its body. It "
                        + "gets 202 at once, and the frame's response comes on the stream.",
                    [
                        (
                            "parameters",
                            .object([("session", .object([("description", "`session` of the hello's result.")]))])
                        )
                    ])
            ),
        ])
    }

    private static let eventStreamDescription = """
        Realtime without a WebSocket. The response is `text/event-stream`: the `data` of each event is one frame, the \
        first of which is the result of the hello. `EventSource` cannot send a body, but `fetch` can read the stream:

        ```js
        const response = await fetch("/v1/realtime/sse", { method: "POST", body: JSON.stringify(hello) });
        let rest = "";
        for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
          const events = (rest + text).split("\\n\\n");
          rest = events.pop();
          for (const event of events) receive(JSON.parse(event.slice("data: ".length)));
        }
        ```

        The session ends with the response: after `bye`, or when the client aborts it.
        """

    private static func channel(
        _ address: String, on server: String, _ messages: [String], _ description: String,
        _ others: [(String, JSON)] = []
    ) -> JSON {
        let references = messages.map { ($0, reference("components/messages/\($0)")) }
        let members: [(String, JSON)] = [
            ("address", .text(address)), ("description", .text(description)),
            ("servers", .array([reference("servers/\(server)")])), ("messages", .object(references)),
        ]
        return .object(members + others)
    }

    var operations: JSON {
        let received = ClientFrameKind.allCases.map { frame -> (String, JSON) in
            let name = Self.name(of: frame)
            let replies = frame.result == nil ? [] : Self.replies(on: Self.socket, "result", "error")
            return (name, Self.operation("receive", Self.socket, frame.summary, [name], replies))
        }
        let sent = Self.operation(
            "send", Self.socket, "What the server sends without being asked.", Self.unsolicitedMessages)
        let post: [(String, JSON)] = [
            ("bindings", .object([("http", .object([("method", "POST"), ("bindingVersion", "0.3.0")]))]))
        ]
        let opened = Self.operation(
            "receive", Self.events, "Open a stream of server-sent events.", [Self.opening],
            post + Self.replies(on: Self.events, Self.serverMessages))
        let security = ("security", JSON.array([Self.reference("components/securitySchemes/accessToken")]))
        let posted = Self.operation(
            "receive", Self.eventFrames, "Send a frame to a session with server-sent events.",
            Self.clientMessages.filter { $0 != "hello" }, post + [security])
        return .object(
            received + [("sendFrames", sent), (Self.opening, opened), ("postFrame", posted)])
    }

    private static let unsolicitedMessages = ServerFrameKind.allCases.filter { $0 != .result && $0 != .error }.map(name)

    private static func replies(on channel: String, _ messages: String...) -> [(String, JSON)] {
        replies(on: channel, messages)
    }

    private static func replies(on channel: String, _ messages: [String]) -> [(String, JSON)] {
        let reply = JSON.object([
            ("channel", reference("channels/\(channel)")),
            ("messages", .array(messages.map { reference("channels/\(channel)/messages/\($0)") })),
        ])
        return [("reply", reply)]
    }

    private static func operation(
        _ action: String, _ channel: String, _ summary: String, _ messages: [String], _ others: [(String, JSON)] = []
    ) -> JSON {
        let members: [(String, JSON)] = [
            ("action", .text(action)), ("channel", reference("channels/\(channel)")), ("summary", .text(summary)),
            ("messages", .array(messages.map { reference("channels/\(channel)/messages/\($0)") })),
        ]
        return .object(members + others)
    }

    private static func reference(_ path: String) -> JSON { .object([("$ref", .text("#/\(path)"))]) }
}
