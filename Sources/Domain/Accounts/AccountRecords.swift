package import Languages
package import Model
package import Notifications

// The rows behind the accounts, as the commands see them.

package struct UserRecord: Hashable, Sendable {
    package var id: UserID
    /// As entered; lookups use `AccountRules.emailKey`.
    package var email: String?
    /// A PHC string; absent for users of external issuers.
    package var passwordHash: String?
    package var displayName: String
    package var photoURL: String?
    package var languages: [String]
    /// Whether a second call rings during a call.
    package var callWaiting: Bool
    package var presence: PresenceVisibility
    package var reach: Reach
    /// Whether others see what the user has read.
    package var receipts = true
    package var lastSeen = LastSeenVisibility.everybody
    package var messageRequests = MessageRequestPolicy.ask
    /// How the user reads other languages, and what machines may make of what they write, where they have not said otherwise.
    package var choices = LanguageChoices()
    /// What notifications show; nil as the service that forwards them allows.
    package var notifications: NotificationLevel?
    /// When devices are not pushed to; nil never.
    package var quietHours: QuietHours?
    package var createdAt: Timestamp
    package var disabledAt: Timestamp?
    /// Set together with `disabledAt`. Only the id remains of a deleted user.
    package var deletedAt: Timestamp?

    package init(
        id: UserID, email: String? = nil, passwordHash: String? = nil, displayName: String, photoURL: String? = nil,
        languages: [String] = [], callWaiting: Bool = false, presence: PresenceVisibility = .everybody,
        reach: Reach = .everybody, createdAt: Timestamp, disabledAt: Timestamp? = nil, deletedAt: Timestamp? = nil
    ) {
        self.id = id
        self.email = email
        self.passwordHash = passwordHash
        self.displayName = displayName
        self.photoURL = photoURL
        self.languages = languages
        self.callWaiting = callWaiting
        self.presence = presence
        self.reach = reach
        self.createdAt = createdAt
        self.disabledAt = disabledAt
        self.deletedAt = deletedAt
    }

    package var profile: UserProfile {
        UserProfile(
            id: id, displayName: displayName, photoURL: photoURL, languages: languages,
            deleted: deletedAt == nil ? nil : true)
    }

    package var ownProfile: OwnProfile {
        OwnProfile(
            id: id, email: email, displayName: displayName, photoURL: photoURL, languages: languages,
            callWaiting: callWaiting, presence: presence, reach: reach, receipts: receipts, lastSeen: lastSeen,
            messageRequests: messageRequests, translation: choices.translation, hints: choices.hints,
            intelligence: choices.intelligence, notifications: notifications, quietHours: quietHours,
            createdAt: createdAt)
    }
}

/// One sign-in; `rotation` is the state of its refresh tokens.
package struct SignInRecord: Hashable, Sendable {
    package var id: SignInID
    package var user: UserID
    package var device: DeviceID
    package var createdAt: Timestamp
    package var lastUsedAt: Timestamp
    package var rotation: RefreshRotation
    package var endedAt: Timestamp?
    package var endReason: SignInEnd?
    /// The server key that opened it, as in the `act` claim of its tokens; nil if the user signed in.
    package var actor: String?
    /// The client that last opened a realtime session with it, if it named itself.
    package var client: ClientInfo?

    package init(
        id: SignInID, user: UserID, device: DeviceID, createdAt: Timestamp, lastUsedAt: Timestamp,
        rotation: RefreshRotation, endedAt: Timestamp? = nil, endReason: SignInEnd? = nil, actor: String? = nil,
        client: ClientInfo? = nil
    ) {
        self.id = id
        self.user = user
        self.device = device
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.rotation = rotation
        self.endedAt = endedAt
        self.endReason = endReason
        self.actor = actor
        self.client = client
    }
}

/// Why a sign-in is over.
package enum SignInEnd: String, Hashable, Sendable, CaseIterable {
    case signedOut = "signed_out"
    case revoked
    case passwordChanged = "password_changed"
    /// A refresh token was reused, so somebody else may have a copy.
    case reused
    case disabled
    case deleted
    /// The user had too many sign-ins, and newer ones replaced it.
    case tooMany = "too_many"
    /// The server was restored from a backup older than the client's refresh token.
    case restored
}

/// A device of one user; two users of one phone have a record each.
package struct DeviceRecord: Hashable, Sendable {
    package var id: DeviceID
    package var user: UserID
    package var name: String
    package var platform: String
    package var createdAt: Timestamp
    package var lastSeenAt: Timestamp

    package init(
        id: DeviceID, user: UserID, name: String, platform: String, createdAt: Timestamp, lastSeenAt: Timestamp
    ) {
        self.id = id
        self.user = user
        self.name = name
        self.platform = platform
        self.createdAt = createdAt
        self.lastSeenAt = lastSeenAt
    }
}

/// A registered client instance, and the digest of the secret that authenticates it.
package struct EndpointRecord: Hashable, Sendable {
    package var id: EndpointID
    package var user: UserID
    package var secretHash: [UInt8]
    /// The sign-in that it last used, by which its device is known. Nil with tokens of an external issuer.
    package var signIn: SignInID?
    /// Accurate to one hour.
    package var usedAt: Timestamp

    package init(
        id: EndpointID, user: UserID, secretHash: [UInt8], signIn: SignInID? = nil, usedAt: Timestamp
    ) {
        self.id = id
        self.user = user
        self.secretHash = secretHash
        self.signIn = signIn
        self.usedAt = usedAt
    }
}

/// The identity in a token of an external issuer.
package struct ExternalIdentity: Hashable, Sendable {
    package var issuer: String
    package var subject: String
    /// Claims of the token, used to create the user at the first sign-in.
    package var name: String?
    package var email: String?
    /// When the token was issued, if it says so.
    package var issuedAt: Timestamp?

    package init(
        issuer: String, subject: String, name: String? = nil, email: String? = nil, issuedAt: Timestamp? = nil
    ) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.email = email
        self.issuedAt = issuedAt
    }
}
