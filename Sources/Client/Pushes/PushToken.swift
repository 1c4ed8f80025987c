public import Foundation

/// A device's address at the service that wakes it: for ``Switchboard/registerForPushes(_:shared:device:)``.
///
/// It is a secret, since whoever has it may push too: its description does not contain it.
public struct PushToken: Hashable, Sendable {
    /// Which of Apple's services knows the token.
    public struct Environment: RawRepresentable, Hashable, Sendable, Codable {
        /// The environment as it stands in JSON.
        public let rawValue: String
        /// Takes any environment.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// For builds from the App Store and TestFlight.
        public static let production = Self(rawValue: "production")
        /// For builds from Xcode.
        public static let sandbox = Self(rawValue: "sandbox")
    }

    /// The service.
    public let kind: PushKind
    let address: Address

    enum Address: Hashable, Sendable {
        case token(String, Environment?)
        case subscription(endpoint: String, publicKey: String, secret: String)
    }

    /// The registration token of an app on Android: printable ASCII without spaces, at most 4,096 characters.
    public static func fcm(_ token: String) -> PushToken {
        PushToken(kind: .fcm, address: .token(token, nil))
    }

    /// The token for notifications, as `didRegisterForRemoteNotificationsWithDeviceToken` has it.
    public static func apns(_ token: Data, environment: Environment = .production) -> PushToken {
        apns(hexadecimal(token), environment: environment)
    }

    /// The token for notifications, in hexadecimal, of at most 200 digits.
    public static func apns(_ token: String, environment: Environment = .production) -> PushToken {
        PushToken(kind: .apns, address: .token(token, environment))
    }

    /// The token for calls, as the `PKPushCredentials` of PushKit have it.
    public static func apnsVoIP(_ token: Data, environment: Environment = .production) -> PushToken {
        apnsVoIP(hexadecimal(token), environment: environment)
    }

    /// The token for calls, in hexadecimal, of at most 200 digits.
    public static func apnsVoIP(_ token: String, environment: Environment = .production) -> PushToken {
        PushToken(kind: .apnsVoIP, address: .token(token, environment))
    }

    /// A subscription of the Push API, such as of a page that the app shows.
    ///
    /// - Parameters:
    ///   - endpoint: The URL of the subscription, at most 2,048 characters.
    ///   - publicKey: Its key `p256dh`, in base64url.
    ///   - secret: Its key `auth`, in base64url.
    public static func web(endpoint: String, publicKey: String, secret: String) -> PushToken {
        PushToken(kind: .web, address: .subscription(endpoint: endpoint, publicKey: publicKey, secret: secret))
    }

    private static func hexadecimal(_ bytes: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension PushToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind, without the token.
    public var description: String { "a token of \(kind.rawValue)" }
    /// The kind, without the token.
    public var debugDescription: String { description }
    /// The kind, without the token.
    public var customMirror: Mirror { Mirror(self, children: ["kind": kind]) }
}
