public import Foundation

/// What a push tells this device.
///
/// It is read from what the system hands to the app: `userInfo` and PushKit's payload on Apple's platforms, the data of a
/// message of Firebase Cloud Messaging, or the JSON of Web Push. It was written by the server for the account ``user``: an
/// app with several accounts answers by the client of that one.
public struct PushNotification: Hashable, Sendable {
    /// What it is about. Later versions of this library may have more: a `switch` needs a `default`.
    public enum Content: Hashable, Sendable {
        /// Somebody wrote: the last message, where several came. Its number in the conversation.
        case message(in: ConversationID, number: Int)
        /// A call rings until a time by the server's clock; nil if that is not known.
        case ring(CallID, isVideo: Bool, expiresAt: Date?)
        /// A call rings no more: replace what is shown.
        case ringEnded(CallID, RingEnd)
        /// Nobody answered a call.
        case missedCall(CallID)
        /// What this version does not know, or cannot read: show ``PushNotification/title`` and ``PushNotification/body``.
        case other(kind: String)
    }

    /// The account that it is for; nil only if the push does not say it.
    public var user: UserID?
    /// What it is about.
    public var content: Content
    /// Who or what, in the user's language; may be empty.
    public var title: String
    /// What, in the user's language; may be empty.
    public var body: String
    /// A picture of who it is from: a path on the server, for ``Switchboard/photo(at:)``.
    public var photoURL: String?
    /// The number of conversations with unread messages.
    public var badge: Int?

    /// Reads the `userInfo` of a notification, or the `dictionaryPayload` of PushKit. Nil if it is not of a Switchboard
    /// server.
    public init?(userInfo: [AnyHashable: Any]) {
        self.init(PushMembers(userInfo))
    }

    /// Reads the data of a message of Firebase Cloud Messaging. Nil if it is not of a Switchboard server.
    public init?(data: [String: String]) {
        self.init(PushMembers(data))
    }

    /// Reads the JSON of a Web Push. Nil if it is not of a Switchboard server.
    public init?(json: Data) {
        guard let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any] else { return nil }
        self.init(PushMembers(members))
    }
}

extension PushNotification {
    private init?(_ members: PushMembers) {
        guard let kind = members.text("kind") else { return nil }
        content = Self.content(kind, members) ?? .other(kind: kind)
        user = members.id("user")
        // Of a notification of Apple's, what is shown stands in `aps` alone.
        title = members.text("title") ?? members.alert.title ?? ""
        body = members.text("body") ?? members.alert.body ?? ""
        photoURL = members.text("photo")
        badge = (members.integer("badge") ?? members.alert.badge).flatMap { $0 < 0 ? nil : Int(exactly: $0) }
    }

    private static func content(_ kind: String, _ members: PushMembers) -> Content? {
        switch kind {
        case "message":
            guard let conversation: ConversationID = members.id("conversation"),
                let number = members.integer("number").flatMap({ Int(exactly: $0) })
            else { return nil }
            return .message(in: conversation, number: number)
        case "ring":
            guard let call: CallID = members.id("call") else { return nil }
            let expiry = members.integer("expiresAt").map { Date(timeIntervalSince1970: Double($0) / 1_000) }
            return .ring(call, isVideo: members.flag("video"), expiresAt: expiry)
        case "ringEnded":
            guard let call: CallID = members.id("call") else { return nil }
            return .ringEnded(call, members.text("reason").map(RingEnd.init(rawValue:)) ?? .cancelled)
        case "missedCall": return members.id("call").map { .missedCall($0) }
        default: return nil
        }
    }
}

/// The members of a push, whose values are of the types that the system makes of them. FCM has strings only, and Apple's
/// dictionaries have `NSNumber` also for what is true or false.
struct PushMembers {
    /// What a notification of Apple's shows.
    struct Alert {
        var title: String?
        var body: String?
        var badge: Int64?
    }

    private let member: (String) -> Any?

    init(_ members: [AnyHashable: Any]) { member = { members[AnyHashable($0)] } }
    init(_ members: [String: String]) { member = { members[$0] } }

    func text(_ name: String) -> String? { member(name) as? String }

    func id<Entity>(_ name: String) -> Identifier<Entity>? {
        text(name).flatMap { $0.isEmpty ? nil : Identifier($0) }
    }

    func integer(_ name: String) -> Int64? { Self.integer(member(name)) }

    func flag(_ name: String) -> Bool {
        if let text = text(name) { return text == "true" || text == "1" }
        return integer(name).map { $0 != 0 } ?? false
    }

    var alert: Alert {
        guard let shown = member("aps") as? [AnyHashable: Any] else { return Alert() }
        let badge = Self.integer(shown["badge"])
        if let body = shown["alert"] as? String { return Alert(body: body, badge: badge) }
        guard let alert = shown["alert"] as? [AnyHashable: Any] else { return Alert(badge: badge) }
        return Alert(title: alert["title"] as? String, body: alert["body"] as? String, badge: badge)
    }

    private static func integer(_ value: Any?) -> Int64? {
        switch value {
        case let text as String: Int64(text)
        case let number as NSNumber: Int64(exactly: number)
        case let number as any BinaryInteger: Int64(exactly: number)
        case let flag as Bool: flag ? 1 : 0
        default: nil
        }
    }
}
