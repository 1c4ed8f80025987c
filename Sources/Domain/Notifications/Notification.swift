package import Model

/// What is pushed to a device: title and body are in the reader's language. In JSON it is the plaintext of a push.
package struct Notification: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case message(ConversationID, number: Int64)
        case ring(CallID, isVideo: Bool, until: Timestamp)
        case ringEnded(CallID, RingEnd)
        case missedCall(CallID)
    }

    /// For whom it is: accounts may share a device.
    package var user: UserID
    package var content: Content
    package var title: String
    package var body: String
    /// The path of a picture of who it is from.
    package var photo: String?
    /// In how many conversations there are unread messages.
    package var badge: Int?

    package init(
        user: UserID, content: Content, title: String, body: String, photo: String? = nil, badge: Int? = nil
    ) {
        self.user = user
        self.content = content
        self.title = title
        self.body = body
        self.photo = photo
        self.badge = badge
    }
}

/// Why a call does not ring any more, though nobody missed it.
package enum RingEnd: String, Hashable, Sendable {
    /// On another device of the user.
    case answered
    case declined
    case cancelled
}

// Its JSON.
extension Notification {
    /// The longest title and body, in bytes: with the longest ids and with every character escaped as `\"`, the plaintext of
    /// a push has room for them (3,993 bytes, RFC 8291 section 4).
    private static let maxTitleBytes = 256
    private static let maxBodyBytes = 1_024

    package var json: String {
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            writer.member("kind", kind)
            writer.member("user", user)
            switch content {
            case .message(let conversation, let number):
                writer.member("conversation", conversation)
                writer.member("number", number)
            case .ring(let call, let isVideo, let until):
                writer.member("call", call)
                writer.member("video", isVideo)
                writer.member("expiresAt", until.milliseconds)
            case .ringEnded(let call, let reason):
                writer.member("call", call)
                writer.member("reason", reason.rawValue)
            case .missedCall(let call): writer.member("call", call)
            }
            writer.member("title", Self.cut(title, to: Self.maxTitleBytes))
            writer.member("body", Self.cut(body, to: Self.maxBodyBytes))
            writer.member("photo", photo.flatMap { $0.utf8.count <= Self.maxTitleBytes ? $0 : nil })
            writer.member("badge", badge.map { Int64($0) })
        }
        return writer.text
    }

    private var kind: String {
        switch content {
        case .message: "message"
        case .ring: "ring"
        case .ringEnded: "ringEnded"
        case .missedCall: "missedCall"
        }
    }

    /// The beginning of a text on one line, at most so many bytes, cut between characters. Control characters, which JSON
    /// writes in six bytes, become spaces.
    static func cut(_ text: String, to limit: Int) -> String {
        var result = ""
        var bytes = 0
        for character in text {
            let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
            let shown = isControl ? " " : String(character)
            if shown == " ", result.isEmpty || result.last == " " { continue }
            guard bytes + shown.utf8.count <= limit - 3 else { return result + "…" }
            bytes += shown.utf8.count
            result += shown
        }
        return result
    }
}
