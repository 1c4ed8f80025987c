package import Model

// Bodies and documents of requests with a server key.

/// A user that the app's back end creates or replaces.
package struct PutUser: Codable, Hashable, Sendable {
    package var displayName: String
    package var languages: [String]?
    package var callWaiting: Bool?
    /// Identities of issuers by whose tokens the user signs in. Those that the user has already stay.
    package var identities: [Identity]?

    package struct Identity: Codable, Hashable, Sendable {
        package var issuer: String
        package var subject: String

        package init(issuer: String, subject: String) {
            self.issuer = issuer
            self.subject = subject
        }
    }

    package init(
        displayName: String, languages: [String]? = nil, callWaiting: Bool? = nil, identities: [Identity]? = nil
    ) {
        self.displayName = displayName
        self.languages = languages
        self.callWaiting = callWaiting
        self.identities = identities
    }
}

/// A request for an access token of a user.
package struct IssueToken: Codable, Hashable, Sendable {
    package var device: Device
    /// Whether a refresh token is wanted too.
    package var refresh: Bool?

    /// The device whose client gets the token; its id is the client's.
    package struct Device: Codable, Hashable, Sendable {
        package var id: DeviceID
        package var name: String
        package var platform: String

        package init(id: DeviceID, name: String, platform: String) {
            self.id = id
            self.name = name
            self.platform = platform
        }
    }

    package init(device: Device, refresh: Bool? = nil) {
        self.device = device
        self.refresh = refresh
    }
}

/// The tokens that were issued.
package struct IssuedToken: Codable, Hashable, Sendable {
    package var user: UserID
    package var session: SignInID
    package var accessToken: String
    /// Seconds.
    package var expiresIn: Int
    package var refreshToken: String?
}

/// A user as a server key sees it. In JSON: `ServerUser`.
package struct ServerUserDocument: Codable, Hashable, Sendable {
    package var id: UserID
    /// The app's own id, if it set one.
    package var ext: String?
    package var email: String?
    package var displayName: String
    package var photoURL: String?
    package var languages: [String]
    package var callWaiting: Bool
    package var disabled: Bool
    /// True if the account was deleted; otherwise absent.
    package var deleted: Bool?
    package var createdAt: Timestamp

    init(_ user: UserRecord, ext: String?) {
        id = user.id
        self.ext = ext
        email = user.email
        displayName = user.displayName
        photoURL = user.photoURL
        languages = user.languages
        callWaiting = user.callWaiting
        disabled = user.disabledAt != nil
        deleted = user.deletedAt == nil ? nil : true
        createdAt = user.createdAt
    }
}
