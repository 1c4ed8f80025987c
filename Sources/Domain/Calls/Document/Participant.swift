package import Model

/// A user in a call.
package struct Participant: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// To ring until then; no endpoint has reported ringing yet.
        case invited(until: Timestamp)
        /// At least one endpoint rings.
        case ringing(until: Timestamp)
        case joined(Joining)
        case left(joinedAt: Timestamp, at: Timestamp, reason: Call.EndReason)
        case declined
        /// Was in another call, with call waiting turned off.
        case busy
        /// Did not accept in time, or before the call ended.
        case missed
        /// Nothing of the user could ring, or the account is disabled or deleted.
        case unreachable
    }

    /// How a user takes part: through exactly one endpoint.
    package struct Joining: Hashable, Sendable {
        package var endpoint: EndpointID
        /// The endpoint's sign-in: when it ends, the participation ends. Absent for tokens of an external issuer.
        package var signIn: SignInID?
        package var since: Timestamp
        /// The endpoint reported that its media flows.
        package var isConnected: Bool
        /// The deadline for media to flow; absent once it does.
        package var setupUntil: Timestamp?
        /// Since when the endpoint has had no realtime session.
        package var detachedAt: Timestamp?
        /// This endpoint replaced another endpoint of the same user.
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
    /// The name at the time of the invitation, as the history shows it.
    package let displayName: String
    package let photoURL: String?
    /// The account was deleted since; then the name is `DeletedUser.name`.
    package let isDeleted: Bool
    /// The user has blocked the inviter and never sees this call; the others see a participant who does not answer. Or the
    /// user was removed from the conversation of the call, and sees no more of it.
    package internal(set) var isWithheld: Bool
    package internal(set) var state: State
    /// When the ring was queued for devices that may sleep; nil if the user has none. It says nothing of what the user has
    /// chosen, such as quiet hours, since whoever is blocked sees it too.
    package internal(set) var pushedAt: Timestamp?
    package internal(set) var media: MediaState
    package internal(set) var quality: QualitySummary?

    package init(
        user: UserID, displayName: String, photoURL: String?, isDeleted: Bool = false, isWithheld: Bool, state: State,
        pushedAt: Timestamp? = nil, media: MediaState, quality: QualitySummary? = nil
    ) {
        self.user = user
        self.displayName = isDeleted ? DeletedUser.name : displayName
        self.photoURL = isDeleted ? nil : photoURL
        self.isDeleted = isDeleted
        self.isWithheld = isWithheld
        self.state = state
        self.pushedAt = pushedAt
        self.media = media
        self.quality = quality
    }
}

extension Participant {
    package var joining: Joining? {
        if case .joined(let joining) = state { joining } else { nil }
    }

    /// Rings or is joined: the relay may carry its media for this call.
    package var isRelayed: Bool {
        guard !isWithheld else { return false }
        switch state {
        case .invited, .ringing, .joined: return true
        case .left, .declined, .busy, .missed, .unreachable: return false
        }
    }

    /// The one endpoint through which the user takes part now.
    package var endpoint: EndpointID? { joining?.endpoint }

    /// When the ringing ends; nil if it does not ring.
    package var ringsUntil: Timestamp? {
        switch state {
        case .invited(let until), .ringing(let until): until
        default: nil
        }
    }

    package var isJoined: Bool { joining != nil }
    package var isRinging: Bool { ringsUntil != nil }

    /// Whether the other participants see no difference: the setup deadline and the sign-in are internal to the server.
    func looksSame(as other: Participant) -> Bool {
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

    /// Whether all endpoints of the user must be notified: the state or the endpoint has changed.
    func hasChangedState(from earlier: Participant) -> Bool {
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

/// What a participant sends, for the others to show. The tracks themselves are negotiated by signals.
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

    /// A partial update; absent members stay unchanged.
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
