package import Languages
package import Model
package import Notifications

// The account documents of the API; the JSON of these types is part of it.

/// A user as others see them. In JSON: `User`.
package struct UserProfile: Codable, Hashable, Sendable {
    package var id: UserID
    package var displayName: String
    package var photoURL: String?
    package var languages: [String]
    /// True if the account was deleted; otherwise absent.
    package var deleted: Bool?

    package init(
        id: UserID, displayName: String, photoURL: String? = nil, languages: [String] = [], deleted: Bool? = nil
    ) {
        self.id = id
        self.displayName = displayName
        self.photoURL = photoURL
        self.languages = languages
        self.deleted = deleted
    }
}

/// A user as they see themselves. In JSON: `Me`.
package struct OwnProfile: Codable, Hashable, Sendable {
    package var id: UserID
    package var email: String?
    package var displayName: String
    package var photoURL: String?
    package var languages: [String]
    package var callWaiting: Bool
    package var presence: PresenceVisibility
    package var reach: Reach
    package var receipts: Bool
    package var lastSeen: LastSeenVisibility
    package var messageRequests: MessageRequestPolicy
    package var translation: TranslationSettings?
    package var hints: TranslationMode?
    package var intelligence: IntelligenceLevel?
    package var notifications: NotificationLevel?
    package var quietHours: QuietHours?
    package var createdAt: Timestamp
}

/// Who may see whether a user is online.
package enum PresenceVisibility: String, Codable, Hashable, Sendable {
    case everybody
    case nobody
}

/// Who may see when a user was last there, among those who may see whether they are online.
package enum LastSeenVisibility: String, Codable, Hashable, Sendable, CaseIterable {
    case everybody
    case friends
    case nobody
}

/// By what others find a user.
package enum Reach: String, Codable, Hashable, Sendable, CaseIterable {
    /// Also by the words of the name.
    case everybody
    /// By the whole e-mail address, the id or a contact link; by friends also by name.
    case exact
}

/// A sign-in on a device. In JSON: `session`.
package struct SignInDocument: Codable, Hashable, Sendable {
    package struct Device: Codable, Hashable, Sendable {
        package var id: DeviceID
        package var name: String
        package var platform: String
        /// By what it is told of messages and calls when it sleeps; nil by nothing.
        package var push: [PushKind]?
    }

    package var id: SignInID
    package var device: Device
    package var createdAt: Timestamp
    package var lastUsedAt: Timestamp
    /// Whether it is the sign-in of this request.
    package var current: Bool
    /// The client that last connected with it, if it named itself.
    package var client: ClientInfo?
}

package struct DeviceDocument: Codable, Hashable, Sendable {
    package var id: DeviceID
    package var name: String
    package var platform: String
    package var createdAt: Timestamp
    package var lastSeenAt: Timestamp
    package var current: Bool
}

/// A short-lived access token and the refresh token for the next pair.
package struct TokenPair: Codable, Hashable, Sendable {
    package var accessToken: String
    package var refreshToken: String
    /// The lifetime of the access token in seconds.
    package var expiresIn: Int
}

/// The response to a sign-up or sign-in.
package struct SignedIn: Codable, Hashable, Sendable {
    package var user: OwnProfile
    package var session: SignInDocument
    package var accessToken: String
    package var refreshToken: String
    package var expiresIn: Int
}

/// One page of a list, and the cursor of the next page.
package struct AccountPage<Item: Sendable>: Sendable {
    package var items: [Item]
    package var nextCursor: String?

    package init(items: [Item], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }
}

extension AccountPage: Equatable where Item: Equatable {}

// The data of the changes in a `user:` stream.

/// Data of a `block` change.
struct BlockChange: Encodable, Sendable {
    var user: UserID
    var blocked: Bool
}

/// Data of `signIn` and `signOut` changes.
struct SignInChange: Encodable, Sendable {
    var session: SignInID
}
