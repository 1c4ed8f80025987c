package import Model

// The rows behind the accounts, as the commands see them.

package struct UserRecord: Hashable, Sendable {
    package var id: UserID
    /// As it was typed; `AccountRules.emailKey` is what it is found by.
    package var email: String?
    /// A PHC string; absent for users of outside issuers.
    package var passwordHash: String?
    package var displayName: String
    package var photoURL: String?
    package var languages: [String]
    /// Whether a second call rings while one is going on.
    package var callWaiting: Bool
    package var presence: PresenceVisibility
    package var createdAt: Timestamp
    package var disabledAt: Timestamp?

    package init(
        id: UserID, email: String? = nil, passwordHash: String? = nil, displayName: String, photoURL: String? = nil,
        languages: [String] = [], callWaiting: Bool = false, presence: PresenceVisibility = .everyone,
        createdAt: Timestamp, disabledAt: Timestamp? = nil
    ) {
        self.id = id
        self.email = email
        self.passwordHash = passwordHash
        self.displayName = displayName
        self.photoURL = photoURL
        self.languages = languages
        self.callWaiting = callWaiting
        self.presence = presence
        self.createdAt = createdAt
        self.disabledAt = disabledAt
    }

    package var profile: UserProfile {
        UserProfile(id: id, displayName: displayName, photoURL: photoURL, languages: languages)
    }

    package var ownProfile: OwnProfile {
        OwnProfile(
            id: id, email: email, displayName: displayName, photoURL: photoURL, languages: languages,
            callWaiting: callWaiting, presence: presence, createdAt: createdAt)
    }
}

/// One signing in: its refresh token's state stands in `rotation`.
package struct SignInRecord: Hashable, Sendable {
    package var id: SignInID
    package var user: UserID
    package var device: DeviceID
    package var createdAt: Timestamp
    package var lastUsedAt: Timestamp
    package var rotation: RefreshRotation
    package var endedAt: Timestamp?
    package var endReason: SignInEnd?

    package init(
        id: SignInID, user: UserID, device: DeviceID, createdAt: Timestamp, lastUsedAt: Timestamp,
        rotation: RefreshRotation, endedAt: Timestamp? = nil, endReason: SignInEnd? = nil
    ) {
        self.id = id
        self.user = user
        self.device = device
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.rotation = rotation
        self.endedAt = endedAt
        self.endReason = endReason
    }
}

/// Why a sign-in is over.
package enum SignInEnd: String, Hashable, Sendable {
    case signedOut = "signed_out"
    case revoked
    case passwordChanged = "password_changed"
    /// A refresh token was used twice, so somebody else may hold a copy.
    case reused
    case disabled
    /// Newer ones of the same user took its place.
    case tooMany = "too_many"
    /// The server was restored from a backup that is older than the client's refresh token.
    case restored
}

/// An installation as one user knows it; two users of one phone have a record each.
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

/// A running client that has made itself known, and the digest of the secret by which it proves itself.
package struct EndpointRecord: Hashable, Sendable {
    package var id: EndpointID
    package var user: UserID
    package var secretHash: [UInt8]
    /// To within an hour.
    package var usedAt: Timestamp

    package init(id: EndpointID, user: UserID, secretHash: [UInt8], usedAt: Timestamp) {
        self.id = id
        self.user = user
        self.secretHash = secretHash
        self.usedAt = usedAt
    }
}

/// Who a token of an outside issuer speaks of.
package struct OutsideIdentity: Hashable, Sendable {
    package var issuer: String
    package var subject: String
    /// Claims of the token, used when the user is seen for the first time.
    package var name: String?
    package var email: String?

    package init(issuer: String, subject: String, name: String? = nil, email: String? = nil) {
        self.issuer = issuer
        self.subject = subject
        self.name = name
        self.email = email
    }
}
