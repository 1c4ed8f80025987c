import Foundation

/// A write that waits for the server. It is stored before the app sees it, in a form that later versions may extend.
struct WriteEntry: Codable, Hashable, Sendable, Identifiable {
    enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
        case send, edit, delete
        /// Makes the conversation, which has a provisional id until then: everything else in it waits for that.
        case create
        case forward
        case react, removeReaction
        case star, unstar
        case pin, unpin
        /// Deletes a message for the user alone.
        case hide
        /// Deletes what there was for the user alone; and takes the conversation off the list.
        case clear, deleteForMe
        /// A message with a sound.
        case voice
        /// Notes that the user has listened to a voice message.
        case listen
        /// Has the server send a message later; changes such a message, sends it now, or deletes it.
        case schedule, reschedule, sendNow, unschedule
        /// Changes how the user keeps the conversation.
        case membership
    }

    /// The message that a write names: by its number, or while the message waits too, by its client id.
    enum Target: Codable, Hashable, Sendable {
        case number(Int)
        case waiting(MessageClientID)
    }

    /// The sound of a voice message.
    struct Sound: Codable, Hashable, Sendable {
        /// Of the file beside the store, a UUID, with which it is uploaded too; or the id of a file that the server
        /// has.
        var name: String
        var byteCount: Int
        /// Zero if it is not set.
        var durationMs: Int
        /// Whether the server has it already, so that there is no file here.
        var isOnServer = false
        /// The number of a message that the server has.
        var waveform: [Int] = []
        var level = -127
    }

    /// The message that a forward takes its text from.
    struct Source: Codable, Hashable, Sendable { var conversation: ConversationID; var number: Int }

    /// Rises with every entry: their order.
    var id: Int64
    var kind: Kind
    var conversation: ConversationID
    /// Of a send: the message's.
    var clientID: MessageClientID
    /// Of a send, an edit, and a message that is sent later.
    var text: String?
    /// For writes about a message. A message that the server sends later is named by its client id.
    var target: Target?
    /// Of an edit: the version of the text that it is based on; nil until its message was sent.
    var textVersion: Int?
    /// Of a message.
    var replyTo: Target?
    /// Of a message in a thread: the message that the thread is about.
    var thread: Target?
    /// Of a voice message.
    var sound: Sound?
    /// Of a message that is sent later.
    var sendAt: Date?
    /// Of a membership.
    var membership: MembershipChange?
    /// Of a reaction.
    var emoji: String?
    /// Of a forward: the message whose text is sent.
    var source: Source?
    /// Of a creation.
    var creation: NewConversation?
    /// Of what deletes everything so far: the last message that the user saw.
    var upTo: Int?
    /// Of a send that goes out now: the one before it, which has no answer yet. Not kept.
    var after: MessageClientID?
    /// In milliseconds since 1970.
    var createdAt: Int64
    /// The server may have it: a write that was sent must not change any more.
    var wasSent = false
    /// Why the server refuses it for good.
    var failure: WriteFailure?
}

extension WriteEntry {
    /// Whether it makes a message.
    var isMessage: Bool { kind == .send || kind == .forward || kind == .voice }

    /// The sound that is in a file beside the store.
    var storedSound: Sound? { sound.flatMap { $0.isOnServer ? nil : $0 } }

    /// Whether it is undone by the other one, so that the later of the two decides.
    func isOpposite(of other: WriteEntry) -> Bool {
        guard conversation == other.conversation, target == other.target, emoji == other.emoji,
            membership?.name == other.membership?.name
        else { return false }
        let pairs: [Set<Kind>] = [
            [.react, .removeReaction], [.star, .unstar], [.pin, .unpin], [.hide], [.listen], [.membership],
        ]
        return pairs.contains { $0.contains(kind) && $0.contains(other.kind) }
    }
}
