package import Languages
package import Model
package import Notifications

// The bodies of requests. The commands validate them and name the invalid field.

/// The device that a user signs in on, as the client describes it.
package struct DeviceClaim: Codable, Hashable, Sendable {
    /// The id from an earlier sign-in on this installation; absent the first time.
    package var id: DeviceID?
    package var name: String
    package var platform: String

    package init(id: DeviceID? = nil, name: String, platform: String) {
        self.id = id
        self.name = name
        self.platform = platform
    }
}

package struct SignUpRequest: Codable, Hashable, Sendable {
    package var email: String
    package var password: String
    package var displayName: String
    package var languages: [String]?
    package var invite: String?
    package var device: DeviceClaim?

    package init(
        email: String, password: String, displayName: String, languages: [String]? = nil, invite: String? = nil,
        device: DeviceClaim? = nil
    ) {
        self.email = email
        self.password = password
        self.displayName = displayName
        self.languages = languages
        self.invite = invite
        self.device = device
    }
}

package struct SignInRequest: Codable, Hashable, Sendable {
    package var email: String
    package var password: String
    package var device: DeviceClaim?

    package init(email: String, password: String, device: DeviceClaim? = nil) {
        self.email = email
        self.password = password
        self.device = device
    }
}

/// A change of one's own profile and settings; what is absent stays. An empty `photoURL` removes the photo.
package struct ProfileUpdate: Hashable, Sendable {
    package var displayName: String?
    package var photoURL: String?
    package var languages: [String]?
    package var callWaiting: Bool?
    package var presence: PresenceVisibility?
    package var reach: Reach?
    package var receipts: Bool?
    package var lastSeen: LastSeenVisibility?
    package var messageRequests: MessageRequestPolicy?
    package var translation: TranslationSettings?
    package var hints: TranslationMode?
    package var intelligence: IntelligenceLevel?
    /// Nil within is as the service that forwards them allows.
    package var notifications: NotificationLevel??
    /// Nil within ends them.
    package var quietHours: QuietHours??

    package init(
        displayName: String? = nil, photoURL: String? = nil, languages: [String]? = nil, callWaiting: Bool? = nil,
        presence: PresenceVisibility? = nil, reach: Reach? = nil, receipts: Bool? = nil,
        lastSeen: LastSeenVisibility? = nil, messageRequests: MessageRequestPolicy? = nil,
        translation: TranslationSettings? = nil, hints: TranslationMode? = nil, intelligence: IntelligenceLevel? = nil,
        notifications: NotificationLevel?? = nil, quietHours: QuietHours?? = nil
    ) {
        self.displayName = displayName
        self.photoURL = photoURL
        self.languages = languages
        self.callWaiting = callWaiting
        self.presence = presence
        self.reach = reach
        self.receipts = receipts
        self.lastSeen = lastSeen
        self.messageRequests = messageRequests
        self.translation = translation
        self.hints = hints
        self.intelligence = intelligence
        self.notifications = notifications
        self.quietHours = quietHours
    }
}

extension ProfileUpdate: Decodable {
    private enum Keys: CodingKey {
        case displayName, photoURL, languages, callWaiting, presence, reach, receipts, lastSeen, messageRequests
        case translation, hints, intelligence, notifications, quietHours
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        func value<Value: Decodable>(_ key: Keys) throws -> Value? {
            try container.decodeIfPresent(Value.self, forKey: key)
        }
        /// Null is something else than absent.
        func change<Value: Decodable>(_ key: Keys) throws -> Value?? {
            container.contains(key) ? .some(try value(key)) : nil
        }
        self.init(
            displayName: try value(.displayName), photoURL: try value(.photoURL), languages: try value(.languages),
            callWaiting: try value(.callWaiting), presence: try value(.presence), reach: try value(.reach),
            receipts: try value(.receipts), lastSeen: try value(.lastSeen),
            messageRequests: try value(.messageRequests), translation: try value(.translation),
            hints: try value(.hints), intelligence: try value(.intelligence),
            notifications: try change(.notifications), quietHours: try change(.quietHours))
    }
}

/// Who may sign up.
package enum SignUpPolicy: String, Codable, Hashable, Sendable {
    case open
    case invite
    case closed
}
