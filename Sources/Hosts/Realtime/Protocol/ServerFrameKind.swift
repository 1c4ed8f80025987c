import Model

/// The kinds of frames that the server sends. Each has a member of this name, which distinguishes it.
package enum ServerFrameKind: String, Hashable, Sendable, CaseIterable {
    case changes, rows, snapshot, reset, event, result, error, heartbeat, bye

    /// Whether its members depend on the stream: `StreamPattern.members(of:)`.
    package var isOfStream: Bool {
        switch self {
        case .changes, .rows, .snapshot, .event: true
        case .reset, .result, .error, .heartbeat, .bye: false
        }
    }

    package var summary: String {
        switch self {
        case .changes:
            "Changes of a log, in order: `seq` grows by one from change to change. A change may come again. If "
                + "a change does not follow the last one, the client must listen again from its position."
        case .rows:
            "The latest of each row of keyed state that has changed after the sequence `after` up to `upTo`. "
                + "Of two copies of a row the one with the higher version is newer, whichever came first. If `after` "
                + "is not beyond the client's position, `upTo` is its next one; otherwise it listens again from its "
                + "position."
        case .snapshot: "The whole state of a stream, which replaces the client's copy."
        case .reset:
            "The client's copy of a stream is no longer valid. Unless the reason is `access`, a snapshot follows."
        case .event: "An event of a stream without a log. Events are not repeated after a reconnection."
        case .result:
            "The result of a frame. It follows the changes that a request has caused in the streams of the session."
        case .error: "The problem that made a frame fail (RFC 9457)."
        case .heartbeat: "Sent when the server is idle too. Respond with a heartbeat."
        case .bye: "The last frame: why the session ends. A WebSocket is then closed with the same code."
        }
    }

    /// The members, unless they depend on the stream.
    package var members: [ProtocolMember] {
        switch self {
        case .changes, .rows, .snapshot, .event: []
        case .reset:
            [
                .required("stream", .streamName(nil)),
                .required(
                    "reset", .object([.required("reason", .choice(ResetReason.allCases.map(\.rawValue)))])),
            ]
        case .result:
            [
                .required("id", .integer(ClientFrame.ids), "The id of the frame that it answers."),
                .required("result", .object([])),
                .optional(
                    "positions", .byStream(.position),
                    "The positions that a write has reached in the streams that it changed."),
            ]
        case .error:
            [
                .optional("id", .integer(ClientFrame.ids), "Absent if the frame's id could not be read."),
                .required("error", .document("Problem")),
            ]
        case .heartbeat: [.required("heartbeat", .object([.required("serverTime", .time)]))]
        case .bye:
            [
                .required(
                    "bye",
                    .object([
                        .required("code", .integer()), .required("reason", .choice(Bye.allCases.map(\.reason))),
                        .optional(
                            "retryAfter", .integer(),
                            "Milliseconds to wait before reconnecting. Absent if the client should not reconnect as it "
                                + "did."),
                    ]))
            ]
        }
    }
}
