package import Model

/// A user in a call.
package struct Participant: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Is to ring until then; no endpoint has said yet that it does.
        case invited(until: Timestamp)
        /// At least one endpoint rings.
        case ringing(until: Timestamp)
        case joined(Joining)
        case left(joinedAt: Timestamp, at: Timestamp, reason: Call.EndReason)
        case declined
        /// Was in another call and wants no second one.
        case busy
        /// Did not answer in time, or before the call ended.
        case missed
        /// Has no account that could ring any more.
        case unreachable
    }

    /// How a user takes part: through exactly one endpoint.
    package struct Joining: Hashable, Sendable {
        package var endpoint: EndpointID
        /// By which the endpoint acts: with its end the participation ends. Absent for tokens of an outside issuer.
        package var signIn: SignInID?
        package var since: Timestamp
        /// The endpoint reported that its media flows.
        package var isConnected: Bool
        /// Media has to flow by then; absent once it did.
        package var setupUntil: Timestamp?
        /// The endpoint has had no realtime session since.
        package var detachedAt: Timestamp?
        /// This endpoint came after another endpoint of the same user, which is out since.
        package var hasTakenOver: Bool

        package init(
            endpoint: EndpointID, signIn: SignInID? = nil, since: Timestamp, isConnected: Bool = false,
            setupUntil: Timestamp? = nil, detachedAt: Timestamp? = nil, hasTakenOver: Bool = false
        ) {
            self.endpoint = endpoint
            self.signIn = signIn
            self.since = since
            self.isConnected = isConnected
            self.setupUntil = setupUntil
            self.detachedAt = detachedAt
            self.hasTakenOver = hasTakenOver
        }
    }

    package let user: UserID
    /// The name at the time of the invitation, which is the name that the history shows.
    package let displayName: String
    package let photoURL: String?
    /// The user has blocked who invites and never learns of this call; the others see somebody who does not answer.
    package internal(set) var isWithheld: Bool
    package internal(set) var state: State
    package internal(set) var media: MediaState
    package internal(set) var quality: QualitySummary?

    package init(
        user: UserID, displayName: String, photoURL: String?, isWithheld: Bool, state: State, media: MediaState,
        quality: QualitySummary? = nil
    ) {
        self.user = user
        self.displayName = displayName
        self.photoURL = photoURL
        self.isWithheld = isWithheld
        self.state = state
        self.media = media
        self.quality = quality
    }
}

extension Participant {
    package var joining: Joining? {
        if case .joined(let joining) = state { joining } else { nil }
    }

    /// Rings, or is in the call: what the server relays for it is for this call.
    package var isRelayed: Bool {
        guard !isWithheld else { return false }
        switch state {
        case .invited, .ringing, .joined: return true
        case .left, .declined, .busy, .missed, .unreachable: return false
        }
    }

    /// The one endpoint through which the user takes part now.
    package var endpoint: EndpointID? { joining?.endpoint }

    /// Until when it rings, while it does.
    package var ringsUntil: Timestamp? {
        switch state {
        case .invited(let until), .ringing(let until): until
        default: nil
        }
    }

    package var isJoined: Bool { joining != nil }
    package var isRinging: Bool { ringsUntil != nil }

    /// Whether the others would see no difference: the time left to set up media, and the sign-in, are the server's own
    /// affair.
    func looksLike(_ other: Participant) -> Bool {
        if self == other { return true }
        guard var joining, var othersJoining = other.joining else { return false }
        joining.setupUntil = nil
        othersJoining.setupUntil = nil
        joining.signIn = nil
        othersJoining.signIn = nil
        var (mine, theirs) = (self, other)
        mine.state = .joined(joining)
        theirs.state = .joined(othersJoining)
        return mine == theirs
    }

    /// Whether something happened that all endpoints of the user need to know: another state, or another endpoint.
    func hasMoved(from earlier: Participant) -> Bool {
        state.name != earlier.state.name || endpoint != earlier.endpoint || isWithheld != earlier.isWithheld
    }
}

extension Participant.State {
    package var name: String {
        switch self {
        case .invited: "invited"
        case .ringing: "ringing"
        case .joined: "joined"
        case .left: "left"
        case .declined: "declined"
        case .busy: "busy"
        case .missed: "missed"
        case .unreachable: "unreachable"
        }
    }
}

/// What a participant sends, as the others are to show it. The tracks themselves are negotiated by signals.
package struct MediaState: Hashable, Sendable {
    package var audio: Bool
    package var video: Bool
    package var screen: Bool
    package var held: Bool

    package init(audio: Bool = true, video: Bool, screen: Bool = false, held: Bool = false) {
        self.audio = audio
        self.video = video
        self.screen = screen
        self.held = held
    }

    package init(for kind: Call.Kind) { self.init(video: kind == .video) }

    /// A part of the state to be changed; what is absent stays.
    package struct Change: Hashable, Sendable, Decodable {
        package var audio: Bool?
        package var video: Bool?
        package var screen: Bool?
        package var held: Bool?

        package init(audio: Bool? = nil, video: Bool? = nil, screen: Bool? = nil, held: Bool? = nil) {
            self.audio = audio
            self.video = video
            self.screen = screen
            self.held = held
        }
    }

    package mutating func apply(_ change: Change) {
        audio = change.audio ?? audio
        video = change.video ?? video
        screen = change.screen ?? screen
        held = change.held ?? held
    }
}
