/// A write that waits for the server. It is stored before the app sees it, in a form that later versions may extend.
struct WriteEntry: Codable, Hashable, Sendable, Identifiable {
    enum Kind: String, Codable, Hashable, Sendable {
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
    }

    /// The message that a write names: by its number, or while the message waits too, by its client id.
    enum Target: Codable, Hashable, Sendable {
        case number(Int)
        case waiting(MessageClientID)
    }

    /// The message that a forward takes its text from.
    struct Source: Codable, Hashable, Sendable { var conversation: ConversationID; var number: Int }

    /// Rises with every entry: their order.
    var id: Int64
    var kind: Kind
    var conversation: ConversationID
    /// Of a send: the message's.
    var clientID: MessageClientID
    /// Of a send or an edit.
    var text: String?
    /// Of what is about a message.
    var target: Target?
    /// Of an edit: the version of the text that it is based on; nil until its message was sent.
    var textVersion: Int?
    /// Of a send.
    var replyTo: Target?
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
    /// The server may have it: what was sent must not change any more.
    var wasSent = false
    /// Why the server refuses it for good.
    var failure: WriteFailure?
}

extension WriteEntry {
    /// Whether it makes a message.
    var isMessage: Bool { kind == .send || kind == .forward }

    /// Whether it is undone by the other one, so that the later of the two decides.
    func isOpposite(of other: WriteEntry) -> Bool {
        guard conversation == other.conversation, target == other.target, emoji == other.emoji else { return false }
        let pairs: [Set<Kind>] = [[.react, .removeReaction], [.star, .unstar], [.pin, .unpin], [.hide]]
        return pairs.contains { $0.contains(kind) && $0.contains(other.kind) }
    }
}

/// Why a write failed, as it is stored.
struct WriteFailure: Codable, Hashable, Sendable {
    var kind: Problem.Kind
    var title: String
    var status: Int
    var detail: String
    var field: String?

    init(_ problem: Problem) {
        kind = problem.kind
        title = problem.title
        status = problem.status
        detail = problem.detail
        field = problem.field
    }

    var problem: Problem {
        Problem(kind: kind, title: title, status: status, detail: detail, field: field)
    }

    static let expired = Self(
        Problem(
            kind: .expired, title: "Expired", status: 410,
            detail: "This waited for 30 days and was not sent. Send it again, or discard it."))
    static let predecessorMissing = Self(
        Problem(
            kind: .predecessorMissing, title: "Conflict", status: 409,
            detail: "The message that this replies to was not sent.", field: "replyTo"))
    static let conversationMissing = Self(
        Problem(
            kind: .predecessorMissing, title: "Conflict", status: 409,
            detail: "The conversation that this was written in was not created.", field: "conversation"))
}
