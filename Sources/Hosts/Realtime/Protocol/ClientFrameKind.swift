import Model

/// The kinds of frames that a client sends. Each has one member of this name, and an `id` unless it is a heartbeat.
package enum ClientFrameKind: String, Hashable, Sendable, CaseIterable {
    case hello, listen, unlisten, request, token, heartbeat
}

extension ClientFrame {
    package var kind: ClientFrameKind {
        switch self {
        case .hello: .hello
        case .listen: .listen
        case .unlisten: .unlisten
        case .request: .request
        case .token: .token
        case .heartbeat: .heartbeat
        }
    }
}

extension ClientFrameKind {
    package var summary: String {
        switch self {
        case .hello:
            "The first frame of a session: the client's credentials, and the streams that it resumes. The session also "
                + "resumes an endpoint whose secret it proves, and closes that endpoint's older session."
        case .listen:
            "Listen to a stream: from a position, or from its snapshot. Without `after` the snapshot comes first; with "
                + "it the changes since then or, if they cannot be continued, a reset and the snapshot."
        case .unlisten: "Stop listening to a stream."
        case .request: "A request of the API, under the name that is its operationId in `/openapi.json`."
        case .token: "A newer access token of the same user, before the current one expires."
        case .heartbeat: "The response to the server's heartbeat. Any other frame also shows that the client is alive."
        }
    }

    package var members: [ProtocolMember] {
        switch self {
        case .hello: [Self.id, .required("hello", .object(Self.helloMembers))]
        case .listen:
            [
                Self.id,
                .required(
                    "listen",
                    .object([
                        .required("stream", .streamName(nil)),
                        .optional("after", .resumePosition, "The position up to which the client has the stream."),
                    ])),
            ]
        case .unlisten: [Self.id, .required("unlisten", .object([.required("stream", .streamName(nil))]))]
        case .request:
            [
                Self.id,
                .required("request", .text(maxBytes: ClientFrame.maxNameLength), "The request's name."),
                .optional("params", .object([]), "The parameters that REST has in path, query and body."),
            ]
        case .token: [Self.id, .required("token", .text(maxBytes: ClientFrame.maxTokenLength))]
        case .heartbeat: [.required("heartbeat", .empty)]
        }
    }

    /// The `result` of the response; nil if there is no response.
    package var result: ProtocolValue? {
        switch self {
        case .hello: .object(Self.helloResultMembers)
        case .listen: .object([.required("stream", .streamName(nil)), .required("position", .position)])
        case .unlisten, .request: .object([])
        case .token: .object([.required("expiresIn", .integer(), "Seconds until the token expires.")])
        case .heartbeat: nil
        }
    }

    /// A frame as JSON text.
    package var example: String {
        switch self {
        case .hello:
            #"{"id":1,"hello":{"token":"eyJhbGciOiJFUzI1NiJ9.e30.c2ln","#
                + #""endpoint":"0197a7c2-5b1e-7f7c-9a51-3f0c2ad9c1a5","secret":"kPZb1VqQ2mWm8yJ4","#
                + #""resume":{"user:0197a7c2-0c55-7d0e-8a3f-8f4b6d5f1c20":["e1",904]}}}"#
        case .listen: #"{"id":2,"listen":{"stream":"call:0197a7c3-11aa-7e21-b7d4-5c8e9f0a1b2c","after":["e1",12]}}"#
        case .unlisten: #"{"id":5,"unlisten":{"stream":"call:0197a7c3-11aa-7e21-b7d4-5c8e9f0a1b2c"}}"#
        case .request:
            #"{"id":3,"request":"calls.get","params":{"call":"0197a7c3-11aa-7e21-b7d4-5c8e9f0a1b2c"}}"#
        case .token: #"{"id":4,"token":"eyJhbGciOiJFUzI1NiJ9.e30.c2ln"}"#
        case .heartbeat: #"{"heartbeat":{}}"#
        }
    }

    private static let id = ProtocolMember.required(
        "id", .integer(ClientFrame.ids), "Chosen by the client; the response carries it.")

    /// The object within a hello frame, which is also the body that opens a stream of server-sent events.
    package static let helloMembers: [ProtocolMember] = [
        .required("token", .text(maxBytes: ClientFrame.maxTokenLength), "The access token."),
        .optional("endpoint", .identifier, "The running client. Without it the server makes a new endpoint."),
        .optional("secret", .text(maxBytes: 128), "The endpoint's secret, which the first hello sets."),
        .optional(
            "resume", .byStream(.resumePosition),
            "The streams to listen to from the start, each with the position up to which the client has it."),
        .optional(
            "client",
            .object([
                .required("name", .text(maxBytes: ClientInfo.maxLength)),
                .required("version", .text(maxBytes: ClientInfo.maxLength)),
            ]), "The library or program, in printable ASCII, which the user sees with the session."),
    ]

    private static let helloResultMembers: [ProtocolMember] = [
        .required("session", .identifier), .required("user", .identifier), .required("endpoint", .identifier),
        .optional("secret", .text(), "The secret of a new endpoint, which the client stores."),
        .required("heartbeat", .integer(), "Seconds between the server's heartbeats."),
        .required("serverTime", .time),
        .optional(
            "server",
            .object([
                .required("name", .text()), .required("version", .text()),
                .optional("build", .text(), "The build of the web client that the server has."),
            ])),
        .required(
            "resumed", .byStream(.choice(["ok", "reset"])),
            "For each resumed stream: `ok` if changes continue it, `reset` if a reset follows."),
    ]
}
