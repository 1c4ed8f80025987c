package import Model

/// The streams that a client can listen to, by the form of their names.
package enum StreamPattern: String, Hashable, Sendable, CaseIterable {
    case user, call, signals, presence, captions

    package init(_ stream: StreamName) {
        self =
            switch stream {
            case .user: .user
            case .call: .call
            case .signals: .signals
            case .presence: .presence
            case .captions: .captions
            }
    }

    /// The parts of the name after the first, each of which is an identifier.
    package var parameters: [String] {
        switch self {
        case .user, .presence: ["user"]
        case .call, .captions: ["call"]
        case .signals: ["call", "endpoint"]
        }
    }

    /// Such as `signals:{call}:{endpoint}`.
    package var template: String { ([rawValue] + parameters.map { "{\($0)}" }).joined(separator: ":") }

    package var kind: StreamName.Kind {
        switch self {
        case .user, .call, .signals: .log
        case .presence: .latestEvent
        case .captions: .orderedEvents
        }
    }

    package var meaning: String {
        switch self {
        case .user:
            "What concerns one user alone: their calls, profile, friends, blocks, sign-ins, voice messages "
                + "and recordings."
        case .call: "One call with its participants. A call that rings, or is created, brings its stream by itself."
        case .signals:
            "The mailbox of one endpoint in one call: signals of other endpoints, and notices of the gateway. It comes "
                + "by itself with joining, and ends with the call."
        case .presence: "Whether a user is online."
        case .captions: "The live captions of a call, which joined endpoints receive by themselves."
        }
    }

    /// Who may listen. Others get `not_found`.
    package var listeners: String {
        switch self {
        case .user: "The user."
        case .call: "Everybody who is or was a participant of the call."
        case .signals: "The endpoint, while it is the one that its user joined the call with."
        case .presence:
            "Every user. Somebody who hides their presence, or has blocked the listener, is always offline."
        case .captions:
            "The endpoints that are joined; each receives what was said since it joined."
        }
    }

    /// The snapshot.
    package var snapshot: ProtocolValue {
        switch self {
        case .user:
            .object([
                .required("me", .document("Me")),
                .required(
                    "calls", .list(.document("Call")), "The live calls that the user is invited to, is in, or may join."
                ),
                .required(
                    "friends", .list(.document("Friend")),
                    "Friends, and requests that were received or sent: the newest 200."),
                .optional("moreFriends", .boolean, "True if there are more, which `friends.list` has."),
            ])
        case .call: .object([.required("call", .document("Call"))])
        case .signals:
            .object([
                .required(
                    "signals", .list(.either(changes.map { .object($0.members) })),
                    "The changes that still matter, in order.")
            ])
        case .presence: Self.presenceValue
        case .captions: .object([])
        }
    }

    /// The changes of a log; empty for other streams.
    package var changes: [ChangeDescription] {
        switch self {
        case .user: UserChangeType.allCases.map(\.description)
        case .call: CallChangeType.allCases.map(\.description)
        case .signals: SignalChangeType.allCases.map(\.description)
        case .presence, .captions: []
        }
    }

    /// The event of a stream without a log.
    package var event: ProtocolValue? {
        switch self {
        case .user, .call, .signals: nil
        case .presence: Self.presenceValue
        case .captions: .document("Caption")
        }
    }

    private static let presenceValue = ProtocolValue.object([
        .required("online", .boolean),
        .optional("lastSeenAt", .time, "When the user's last session ended, if this server knows."),
    ])
}

extension StreamPattern {
    /// The members of a frame that depend on the stream; nil if it has no such frames.
    package func members(of frame: ServerFrameKind) -> [ProtocolMember]? {
        let stream = ProtocolMember.required("stream", .streamName(self))
        switch frame {
        case .changes:
            guard kind == .log else { return nil }
            return [stream, .required("changes", .list(.either(changes.map { .object($0.members) })))]
        case .snapshot:
            guard kind == .log else { return [stream, .required("snapshot", snapshot)] }
            return [
                stream, .required("snapshot", snapshot),
                .required("epoch", .text(), "Changes when the log was rebuilt, as after restoring a backup."),
                .required("seq", .sequence, "The sequence of the last change that the snapshot contains."),
            ]
        case .event:
            guard let event else { return nil }
            return [stream, .required("event", event)]
        case .reset, .result, .error, .heartbeat, .bye:
            return nil
        }
    }
}

extension StreamName.Kind {
    /// The kind's name in the table.
    package var name: String {
        switch self {
        case .log: "log"
        case .latestEvent: "latest"
        case .orderedEvents: "ordered"
        }
    }

    package var meaning: String {
        switch self {
        case .log: "Numbered changes, which a client resumes from a position. At least once and in order."
        case .latestEvent: "Events of which only the latest counts: a newer one replaces one that is still queued."
        case .orderedEvents: "Events in their order. Of those that wait for a slow client, the oldest are dropped."
        }
    }
}
