package import Model

/// A type of the changes in a log.
package struct ChangeDescription: Hashable, Sendable {
    package let type: String
    package let meaning: String
    package let data: ProtocolValue

    /// The members of a change with this type.
    package var members: [ProtocolMember] {
        [.required("seq", .sequence), .required("type", .choice([type])), .required("data", data)]
    }
}

extension UserChangeType {
    package var description: ChangeDescription {
        ChangeDescription(type: rawValue, meaning: meaning, data: data)
    }

    private var meaning: String {
        switch self {
        case .call: "A call rings, the user's own part in it has changed, or it has ended."
        case .profile: "The user's own profile or settings have changed."
        case .block: "The user has blocked or unblocked somebody."
        case .friend: "A friend, or a request that was received or sent, is new or has changed."
        case .friendRemoved:
            "A friendship or a request is over: it was ended, cancelled or declined, has expired, or was ended "
                + "by a block."
        case .signIn: "The user has signed in on a device."
        case .signOut: "A sign-in has ended."
        case .recordingTranscribed: "The state of a recording's transcript has changed."
        case .recordingMixed: "The state of a recording's mix has changed."
        case .recordingRemoved: "A recording was removed."
        }
    }

    private var data: ProtocolValue {
        switch self {
        case .call: .document("Call")
        case .profile: .document("Me")
        case .block: .object([.required("user", .identifier), .required("blocked", .boolean)])
        case .friend: .document("Friend")
        case .friendRemoved: .object([.required("user", .identifier, "The other user.")])
        case .signIn, .signOut: .object([.required("session", .identifier)])
        case .recordingTranscribed, .recordingMixed:
            .object(
                Self.recording + [
                    .required("status", .choice(FileTranscript.Status.allCases.map(\.rawValue)))
                ])
        case .recordingRemoved: .object(Self.recording)
        }
    }

    private static let recording: [ProtocolMember] = [
        .required("recording", .identifier), .required("call", .identifier),
    ]
}

extension CallChangeType {
    package var description: ChangeDescription {
        switch self {
        case .call:
            ChangeDescription(
                type: rawValue, meaning: "The call without its participants, which have changes of their own.",
                data: .document("Call", without: ["participants"]))
        case .participant:
            ChangeDescription(
                type: rawValue, meaning: "A participant is new or has changed, with the version of the call.",
                data: .document(
                    "Participant",
                    with: [.required("version", .integer(), "The version of the call that has this participant.")]))
        }
    }
}

extension SignalChangeType {
    package var description: ChangeDescription {
        ChangeDescription(type: rawValue, meaning: meaning, data: data)
    }

    private var meaning: String {
        switch self {
        case .offer: "The offer of another endpoint, with the generation that it begins."
        case .answer: "The answer to this endpoint's offer of that generation."
        case .candidates: "Candidates of another endpoint, for the offer of that generation."
        case .slots: "The tracks that the slots of the endpoint's leg show; always all slots."
        case .renegotiate: "Another participant cannot decode what the endpoint sends: make a new offer for its leg."
        case .legEnded: "The endpoint's leg has failed: make a new one."
        }
    }

    private var data: ProtocolValue {
        switch self {
        case .offer, .answer:
            signal(payload: .object([.required("sdp", .text())]))
        case .candidates:
            signal(
                payload: .object([
                    .required("candidates", .list(.document("Candidate"))),
                    .required("end", .boolean, "The sender has gathered all its candidates."),
                ]))
        case .slots: .object([kind, .required("slots", .list(.document("Slot")))])
        case .renegotiate: .object([kind])
        case .legEnded: .object([kind, .required("reason", .text())])
        }
    }

    private var kind: ProtocolMember { .required("kind", .choice([rawValue])) }

    /// A newer signal of the sender makes an older one obsolete: its payload is then removed from the mailbox.
    private func signal(payload: ProtocolValue) -> ProtocolValue {
        .either([
            .object([
                .required("from", .object([.required("user", .identifier), .required("endpoint", .identifier)])),
                kind, .required("generation", .integer()), .required("payload", payload),
            ]),
            .object([.required("superseded", .boolean, "True: the signal is obsolete, and its payload was removed.")]),
        ])
    }
}
