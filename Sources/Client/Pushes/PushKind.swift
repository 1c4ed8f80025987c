public import Foundation

/// By which service a device is woken. Newer servers may have more.
public struct PushKind: RawRepresentable, Hashable, Sendable, Codable {
    /// The kind as it stands in JSON.
    public let rawValue: String
    /// Takes any kind.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Web Push: browsers.
    public static let web = Self(rawValue: "web")
    /// Firebase Cloud Messaging: Android.
    public static let fcm = Self(rawValue: "fcm")
    /// Apple's push service: notifications.
    public static let apns = Self(rawValue: "apns")
    /// Apple's push service: calls, which PushKit delivers.
    public static let apnsVoIP = Self(rawValue: "apnsVoIP")
}

/// That a device of the user is woken by a service. A device has one of each kind for each account.
public struct PushRegistration: Codable, Hashable, Sendable {
    /// The service.
    public var kind: PushKind
    /// The device.
    public var device: DeviceID
    /// When it was registered first.
    public var createdAt: Date
    /// When it was last renewed.
    public var updatedAt: Date
}
