public import Foundation

/// The signed-in user.
public struct Me: Codable, Hashable, Sendable, Identifiable {
    /// Who may see whether a user is online. Newer servers may have more.
    public struct PresenceVisibility: RawRepresentable, Hashable, Sendable, Codable {
        /// The choice as it stands in JSON.
        public let rawValue: String
        /// Takes any choice.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Friends, and members of shared conversations.
        public static let everybody = Self(rawValue: "everybody")
        /// Nobody: the user always seems offline.
        public static let nobody = Self(rawValue: "nobody")
    }

    /// By what others find a user. Newer servers may have more.
    public struct Reach: RawRepresentable, Hashable, Sendable, Codable {
        /// The choice as it stands in JSON.
        public let rawValue: String
        /// Takes any choice.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Also by the words of the name.
        public static let everybody = Self(rawValue: "everybody")
        /// By the whole e-mail address, the id or the contact link; by friends also by name.
        public static let exact = Self(rawValue: "exact")
    }

    /// Who may see when a user was last there. Newer servers may have more.
    public struct LastSeenVisibility: RawRepresentable, Hashable, Sendable, Codable {
        /// The choice as it stands in JSON.
        public let rawValue: String
        /// Takes any choice.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Friends, and members of shared conversations.
        public static let everybody = Self(rawValue: "everybody")
        /// Friends alone.
        public static let friends = Self(rawValue: "friends")
        /// Nobody; and the user does not see it of others.
        public static let nobody = Self(rawValue: "nobody")
    }

    /// What becomes of a conversation of two that a stranger begins. Newer servers may have more.
    public struct MessageRequestPolicy: RawRepresentable, Hashable, Sendable, Codable {
        /// The choice as it stands in JSON.
        public let rawValue: String
        /// Takes any choice.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It is a request.
        public static let ask = Self(rawValue: "ask")
        /// The user is in it at once.
        public static let accept = Self(rawValue: "accept")
        /// Nothing of it reaches the user, which the other cannot tell.
        public static let refuse = Self(rawValue: "refuse")
    }

    /// What pushed notifications show. Newer servers may have more.
    public struct NotificationLevel: RawRepresentable, Hashable, Sendable, Codable {
        /// The choice as it stands in JSON.
        public let rawValue: String
        /// Takes any choice.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Who, and the text.
        public static let full = Self(rawValue: "full")
        /// Who.
        public static let name = Self(rawValue: "name")
        /// Only that there is something.
        public static let none = Self(rawValue: "none")
    }

    /// The hours of each day in which nothing is pushed to the user's devices, by the clocks of a time zone. What comes then
    /// is pushed when they end.
    public struct QuietHours: Codable, Hashable, Sendable {
        /// When they begin, from `00:00` to `23:59`.
        public var from: String
        /// When they end, likewise; earlier than ``from``, on the next day. They differ.
        public var to: String
        /// The name of a time zone in the database of IANA, such as `Europe/Berlin`.
        public var zone: String

        /// Takes times as `HH:MM`, by default in the time zone of this device.
        public init(from: String, to: String, zone: String = TimeZone.current.identifier) {
            self.from = from
            self.to = to
            self.zone = zone
        }
    }

    /// The user's id.
    public var id: UserID
    /// The e-mail address; absent for users of an external issuer.
    public var email: String?
    /// The name that others see.
    public var displayName: String
    /// The photo that others see: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// The languages the user speaks, as BCP 47 tags, the best first.
    public var languages: [String]
    /// Whether a second call rings during a call; otherwise its caller gets `busy`.
    public var callWaiting: Bool
    /// Who may see whether the user is online.
    public var presence: PresenceVisibility
    /// By what others find the user; absent from older servers.
    public var reach: Reach?
    /// Whether others see what the user has read; absent from older servers.
    public var receipts: Bool?
    /// Who, of those who see the user online, sees when they were last there; nil from servers that do not have it.
    public var lastSeen: LastSeenVisibility?
    /// What becomes of conversations that strangers begin; nil from servers that do not have it.
    public var messageRequests: MessageRequestPolicy?
    /// How the user reads other languages; nil on request.
    public var translation: TranslationSettings?
    /// When messages of others in other languages are explained; nil on request.
    public var hints: TranslationSettings.Mode?
    /// What machines may make of what the user writes; nil as the server says.
    public var intelligence: IntelligenceLevel?
    /// What pushed notifications show; nil as the service that forwards them allows.
    public var notifications: NotificationLevel?
    /// When nothing is pushed to the user's devices; nil never.
    public var quietHours: QuietHours?
    /// When the account was created.
    public var createdAt: Date
}

/// The public profile of another user.
public struct User: Codable, Hashable, Sendable, Identifiable {
    /// The user's id.
    public var id: UserID
    /// Their name.
    public var displayName: String
    /// Their photo: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// The languages they speak, as BCP 47 tags, the best first.
    public var languages: [String]
    /// True if the account was deleted; then the name is `Deleted user`.
    public var deleted: Bool?
}

/// An installation of an app that a user signed in on.
public struct Device: Codable, Hashable, Sendable, Identifiable {
    /// The device's id.
    public var id: DeviceID
    /// Its name, for the user to recognise.
    public var name: String
    /// The platform, such as `ios` or `web`.
    public var platform: String
    /// When the user first signed in on it; absent within a ``SignIn``.
    public var createdAt: Date?
    /// When it was last active; absent within a ``SignIn``.
    public var lastSeenAt: Date?
    /// Whether it is the device of this client; absent within a ``SignIn``.
    public var current: Bool?
}

/// One sign-in of a user on a device, which the user may revoke. The server's JSON calls it a session.
public struct SignIn: Codable, Hashable, Sendable, Identifiable {
    /// The sign-in's id.
    public var id: SignInID
    /// The device that was signed in on.
    public var device: Device
    /// When it happened.
    public var createdAt: Date
    /// When it was last used.
    public var lastUsedAt: Date
    /// Whether it is the sign-in of this client.
    public var current: Bool
    /// The library or program that last connected with it; absent before, and if it did not name itself.
    public var client: Client?

    /// A library or program, as it names itself.
    public struct Client: Codable, Hashable, Sendable {
        /// Its name, such as `Switchboard-Swift`.
        public var name: String
        /// Its version.
        public var version: String
    }
}

/// How a device describes itself at sign-in.
public struct DeviceDescription: Codable, Hashable, Sendable {
    /// The id from an earlier sign-in on the same installation; nil for a new one.
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

    /// Restores stored tokens.
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
    /// The languages the user speaks, as BCP 47 tags, at most 16.
    public var languages: [String]?
    /// Whether a second call rings while the user is in one.
    public var callWaiting: Bool?
    /// Who may see whether the user is online.
    public var presence: Me.PresenceVisibility?
    /// By what others find the user.
    public var reach: Me.Reach?
    /// Whether others see what the user has read. If not, the user does not see what they have read.
    public var receipts: Bool?
    /// Who, of those who see the user online, sees when they were last there.
    public var lastSeen: Me.LastSeenVisibility?
    /// What becomes of conversations that strangers begin.
    public var messageRequests: Me.MessageRequestPolicy?
    /// How the user reads other languages.
    public var translation: TranslationSettings?
    /// When messages of others in other languages are explained.
    public var hints: TranslationSettings.Mode?
    /// What machines may make of what the user writes.
    public var intelligence: IntelligenceLevel?
    /// What pushed notifications show.
    public var notifications: Me.NotificationLevel?

    /// Changes what is given.
    public init(
        displayName: String? = nil, languages: [String]? = nil, callWaiting: Bool? = nil,
        presence: Me.PresenceVisibility? = nil, reach: Me.Reach? = nil, receipts: Bool? = nil,
        lastSeen: Me.LastSeenVisibility? = nil, messageRequests: Me.MessageRequestPolicy? = nil,
        translation: TranslationSettings? = nil, intelligence: IntelligenceLevel? = nil,
        hints: TranslationSettings.Mode? = nil, notifications: Me.NotificationLevel? = nil
    ) {
        self.displayName = displayName
        self.languages = languages
        self.callWaiting = callWaiting
        self.presence = presence
        self.reach = reach
        self.receipts = receipts
        self.lastSeen = lastSeen
        self.messageRequests = messageRequests
        self.translation = translation
        self.intelligence = intelligence
        self.hints = hints
        self.notifications = notifications
    }
}

/// Whether a user is online.
public struct Presence: Codable, Hashable, Sendable {
    /// Whether any endpoint of the user is connected.
    public var online: Bool
    /// When the user was last there; absent while online, and if they do not show it.
    public var lastSeenAt: Date?
}

/// The public description of the server.
public struct ServerDescription: Codable, Hashable, Sendable {
    /// The name its operator gave it.
    public var name: String
    /// Its version.
    public var version: String
    /// Who may sign up: `open`, `invite` or `closed`.
    public var signUp: String
    /// Whether the server transcribes voice messages and captions.
    public var transcribes: Bool
    /// Whether anything translates messages; nil from older servers.
    public var translates: Bool?
    /// Whether messages are found by their meaning: ``MessageSearch/mode``; nil from older servers.
    public var findsMeaning: Bool?
    /// Whether anything suggests replies, ``Messages/suggestedReplies(to:)``: the language model, or templates. Nil from
    /// older servers.
    public var suggestsReplies: Bool?
    /// What translates, in the order in which it is asked; empty where nothing does, and nil from older servers.
    public var translators: [Engine]?
    /// What transcribes; nil where nothing does, and from older servers.
    public var transcriber: Engine?
    /// What compares the meanings of texts; nil where nothing does, and from older servers.
    public var embedder: Engine?
    /// What rewrites drafts, suggests replies and explains more than lexicons do; nil where there is none.
    public var languageModel: Engine?
    /// The limits of voice messages.
    public var voice: VoiceLimits
    /// How long messages are kept. Nil from a server that keeps them for ever.
    public var messages: MessageLimits?

    /// What works with texts or speech. Name it to the user before they allow it what is ``hosted``:
    /// ``IntelligenceLevel/translate`` allows ``translators`` and the ``transcriber``, ``IntelligenceLevel/full`` the
    /// ``embedder`` and the ``languageModel`` too.
    public struct Engine: Codable, Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Whether what it is given leaves what the operator runs.
        public var hosted: Bool
    }

    /// How long messages are kept.
    public struct MessageLimits: Codable, Hashable, Sendable {
        /// Days after which messages are erased; 0 for never. A group's settings may say fewer:
        /// ``ConversationSettings/keepDays``.
        public var keepDays: Int
    }

    /// What wakes devices while the app does not run; nil from older servers.
    public var push: Push?

    /// What wakes devices while the app does not run: ``Switchboard/registerForPushes(_:shared:device:)``.
    public struct Push: Codable, Hashable, Sendable {
        /// Web Push.
        public struct Web: Codable, Hashable, Sendable {
            /// The `applicationServerKey` of subscriptions, in base64url.
            public var publicKey: String
        }

        /// Nil if browsers are not woken.
        public var web: Web?
        /// Whether ``PushKind/fcm`` is; nil: no.
        public var fcm: Bool?
        /// Whether ``PushKind/apns`` and ``PushKind/apnsVoIP`` are; nil: no.
        public var apns: Bool?

        /// Whether devices are woken by this service.
        public func supports(_ kind: PushKind) -> Bool {
            switch kind {
            case .web: web != nil
            case .fcm: fcm == true
            case .apns, .apnsVoIP: apns == true
            default: false
            }
        }
    }

    /// What the operator may disable: hide what is disabled. Nil from a server that has all of it.
    public var features: Features?

    /// What the operator may disable. Requests of a disabled feature throw ``Problem/Kind/featureDisabled``; a feature that
    /// the server does not name is enabled.
    public struct Features: Codable, Hashable, Sendable {
        /// Whether users can become friends. Those who are stay friends.
        public var friends: Bool?
        /// Whether users can find others by name, e-mail address or id.
        public var userSearch: Bool?
        /// Whether users can search messages.
        public var messageSearch: Bool?
        /// Whether users can create groups. Those that exist go on.
        public var groups: Bool?
        /// Whether users can make and use links of themselves and of groups.
        public var inviteLinks: Bool?
    }

    /// The limits of voice messages.
    public struct VoiceLimits: Codable, Hashable, Sendable {
        /// The maximum length in seconds.
        public var maxSeconds: Int
        /// The maximum size of an upload.
        public var maxBytes: Int
        /// Whether ``Switchboard/recordVoice(offer:)`` is possible.
        public var recording: Bool
    }
}
