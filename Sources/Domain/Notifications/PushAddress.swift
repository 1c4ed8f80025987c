internal import FoundationEssentials
package import Model
package import Webhooks

/// Where the pushes to a device go: secret, since whoever has it may push too.
package enum PushAddress: Hashable, Sendable {
    case web(WebPushAddress)
    /// The registration token of an app on Android.
    case fcm(String)
    case apns(APNsAddress)

    package static let minTokenLength = 8
    package static let maxTokenLength = 4_096

    package var kind: PushKind {
        switch self {
        case .web: .web
        case .fcm: .fcm
        case .apns(let address): address.isVoIP ? .apnsVoIP : .apns
        }
    }
}

/// A device of Apple's push service.
package struct APNsAddress: Hashable, Sendable {
    /// By the `aps-environment` of the app's build.
    package enum Environment: String, Codable, Hashable, Sendable, CaseIterable {
        case production
        /// Of development: builds from Xcode.
        case sandbox
    }

    package static let maxTokenLength = 200

    /// Hexadecimal, in lower case.
    package var token: String
    package var environment: Environment
    /// Whether it is of PushKit, each of whose pushes has to ring.
    package var isVoIP: Bool

    package init(token: String, environment: Environment, isVoIP: Bool) {
        self.token = token
        self.environment = environment
        self.isVoIP = isVoIP
    }
}

/// A subscription of the Push API: its endpoint, and the keys by which messages are encrypted for the browser (RFC 8291).
package struct WebPushAddress: Hashable, Sendable {
    /// Bytes of a point of P-256, uncompressed, and of the secret.
    package static let publicKeyLength = 65
    package static let authSecretLength = 16

    package var endpoint: WebhookURL
    package var publicKey: [UInt8]
    package var authSecret: [UInt8]

    package init(endpoint: WebhookURL, publicKey: [UInt8], authSecret: [UInt8]) {
        self.endpoint = endpoint
        self.publicKey = publicKey
        self.authSecret = authSecret
    }
}

// As it is sealed for the database.
extension PushAddress {
    private struct Stored: Codable {
        var endpoint: String
        var publicKey: Data
        var authSecret: Data
    }

    private struct StoredToken: Codable {
        var token: String
        var environment: APNsAddress.Environment?
    }

    package var bytes: [UInt8] {
        get throws {
            switch self {
            case .web(let address):
                let stored = Stored(
                    endpoint: address.endpoint.text, publicKey: Data(address.publicKey),
                    authSecret: Data(address.authSecret))
                return Array(try JSONEncoder().encode(stored))
            case .fcm(let token): return Array(try JSONEncoder().encode(StoredToken(token: token)))
            case .apns(let address):
                let stored = StoredToken(token: address.token, environment: address.environment)
                return Array(try JSONEncoder().encode(stored))
            }
        }
    }

    /// What makes two addresses the same one.
    package var identity: [UInt8] {
        switch self {
        case .web(let address): Array(address.endpoint.text.utf8)
        case .fcm(let token): Array(token.utf8)
        case .apns(let address): Array(address.token.utf8)
        }
    }

    /// Nil for what this version cannot read.
    package init?(_ bytes: [UInt8], of kind: PushKind) {
        switch kind {
        case .web:
            guard let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes)),
                let endpoint = WebhookURL(stored.endpoint)
            else { return nil }
            self = .web(
                WebPushAddress(
                    endpoint: endpoint, publicKey: Array(stored.publicKey), authSecret: Array(stored.authSecret)))
        case .fcm:
            guard let stored = try? JSONDecoder().decode(StoredToken.self, from: Data(bytes)) else { return nil }
            self = .fcm(stored.token)
        case .apns, .apnsVoIP:
            guard let stored = try? JSONDecoder().decode(StoredToken.self, from: Data(bytes)),
                let environment = stored.environment
            else { return nil }
            self = .apns(APNsAddress(token: stored.token, environment: environment, isVoIP: kind == .apnsVoIP))
        }
    }
}
