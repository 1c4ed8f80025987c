/// By which service a device is pushed to.
package enum PushKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Web Push (RFC 8030): browsers.
    case web
    /// Firebase Cloud Messaging: Android.
    case fcm
    /// Apple's push service: notifications.
    case apns
    /// Apple's push service: calls, each of which rings.
    case apnsVoIP
}

/// What notifications show of what they tell about.
package enum NotificationLevel: String, Codable, Hashable, Sendable, CaseIterable {
    /// Who, and the text.
    case full
    /// Who.
    case name
    /// Only that there is something.
    case none
}

extension PushKind {
    /// The level where the user has said nothing: Web Push is encrypted for the browser, the other services read what they
    /// forward.
    package var defaultLevel: NotificationLevel { self == .web ? .full : .name }
}
