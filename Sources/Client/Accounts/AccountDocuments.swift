public import Foundation

/// Oneself: the account that is signed in.
public struct Me: Codable, Hashable, Sendable, Identifiable {
    /// Who may see whether a user is online.
    public enum PresenceVisibility: String, Codable, Sendable {
        /// Everyone who is not blocked.
        case everyone
        /// Nobody: the user always seems offline.
        case nobody
    }

    /// The user's id.
    public var id: UserID
    /// The e-mail address; absent for users of an outside issuer.
    public var email: String?
    /// The name that others see.
    public var displayName: String
    /// Where the picture that others see is: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// The languages the user speaks, as BCP 47 tags, the best first.
    public var languages: [String]
    /// Whether a second call rings while the user is in one; otherwise its caller hears `busy`.
    public var callWaiting: Bool
    /// Who may see whether the user is online.
    public var presence: PresenceVisibility
    /// When the account was made.
    public var createdAt: Date
}

/// Another person, as much of them as everyone may see.
public struct User: Codable, Hashable, Sendable, Identifiable {
    /// The user's id.
    public var id: UserID
    /// Their name.
    public var displayName: String
    /// Where their picture is: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// The languages they speak, as BCP 47 tags, the best first.
    public var languages: [String]
}

/// An installation of an app that a user signed in on.
public struct Device: Codable, Hashable, Sendable, Identifiable {
    /// The device's id.
    public var id: DeviceID
    /// Its name, for the user to recognise.
    public var name: String
    /// What it runs, such as `ios` or `web`.
    public var platform: String
    /// When the user first signed in on it; absent within a ``SignIn``.
    public var createdAt: Date?
    /// When it was last heard of; absent within a ``SignIn``.
    public var lastSeenAt: Date?
    /// Whether it is the one that asks; absent within a ``SignIn``.
    public var current: Bool?
}

/// One signing in of a user on a device, which they may revoke. The server's JSON calls it a session.
public struct SignIn: Codable, Hashable, Sendable, Identifiable {
    /// The sign-in's id.
    public var id: SignInID
    /// The device that was signed in on.
    public var device: Device
    /// When it happened.
    public var createdAt: Date
    /// When it was last used.
    public var lastUsedAt: Date
    /// Whether it is the one that asks.
    public var current: Bool
}

/// What a device tells of itself when a user signs in on it.
public struct DeviceDescription: Codable, Hashable, Sendable {
    /// The id that an earlier sign-in on the same installation brought; nil for a new one.
    public var id: DeviceID?
    /// A name for the user to recognise, such as `Ann's iPhone`.
    public var name: String
    /// What it runs, such as `ios`.
    public var platform: String

    /// Describes an installation.
    public init(id: DeviceID? = nil, name: String, platform: String) {
        self.id = id
        self.name = name
        self.platform = platform
    }
}

/// What keeps a user signed in. Store it (it is a secret), and give it to ``Switchboard/use(_:)`` when the app starts.
public struct Tokens: Codable, Hashable, Sendable {
    /// The short-lived token that requests carry.
    public var accessToken: String
    /// The token that gets a new pair, and is replaced by every refresh.
    public var refreshToken: String
    /// When the access token stops being accepted, by this machine's clock.
    public var expiresAt: Date

    /// Puts stored tokens together again.
    public init(accessToken: String, refreshToken: String, expiresAt: Date) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
    }
}

/// A change of one's profile; what is nil stays as it is. ``Switchboard/setPhoto(_:)`` changes the photo.
public struct ProfileChange: Codable, Hashable, Sendable {
    /// The name that others see, 1 to 80 characters.
    public var displayName: String?
    /// The languages the user speaks, as BCP 47 tags.
    public var languages: [String]?
    /// Whether a second call rings while the user is in one.
    public var callWaiting: Bool?
    /// Who may see whether the user is online.
    public var presence: Me.PresenceVisibility?

    /// Changes what is given.
    public init(
        displayName: String? = nil, languages: [String]? = nil, callWaiting: Bool? = nil,
        presence: Me.PresenceVisibility? = nil
    ) {
        self.displayName = displayName
        self.languages = languages
        self.callWaiting = callWaiting
        self.presence = presence
    }
}

/// Whether a user is there.
public struct Presence: Codable, Hashable, Sendable {
    /// Whether any endpoint of the user is connected.
    public var online: Bool
    /// When the last of them went; absent while online, and where the user does not show it.
    public var lastSeenAt: Date?
}

/// What the server says of itself to everyone.
public struct ServerDescription: Codable, Hashable, Sendable {
    /// The name its operator gave it.
    public var name: String
    /// Its version.
    public var version: String
    /// Who may sign up: `open`, `invite` or `closed`.
    public var signUp: String
    /// Whether somebody writes down what is said, in voice messages and as captions.
    public var transcribes: Bool
    /// The bounds of voice messages.
    public var voice: VoiceLimits

    /// What voice messages may be.
    public struct VoiceLimits: Codable, Hashable, Sendable {
        /// How long, in seconds.
        public var maxSeconds: Int
        /// How large, where one is uploaded.
        public var maxBytes: Int
        /// Whether ``Switchboard/recordVoiceMessage(offer:to:)`` is possible.
        public var recording: Bool
    }
}
