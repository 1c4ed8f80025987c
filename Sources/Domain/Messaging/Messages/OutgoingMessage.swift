import Languages
package import Model

/// What is sent.
package struct OutgoingMessage: Hashable, Sendable {
    package var clientID: ClientID
    /// Nil for a forwarded message and a voice message.
    package var text: MessageText?
    /// The message whose text is sent.
    package var forward: MessageReference?
    /// The sound of a voice message, which has no text.
    package var voice: OutgoingVoice?
    /// A message of the same conversation.
    package var replyTo: Int64?
    /// The number of the message whose thread it is in.
    package var thread: Int64?
    /// Of the whole request, so that a repetition can be told from another request with the same client id.
    package var digest: [UInt8]
    /// The revision of the draft that it was.
    package var draft: Int64?
    /// The last message that was on the screen. Without it nothing is read.
    package var readUpTo: Int64?
    /// Of a message of the same author in the same conversation, which has to be stored before it.
    package var afterClientID: ClientID?

    package init(clientID: ClientID, text: MessageText, replyTo: Int64? = nil, digest: [UInt8]) {
        self.clientID = clientID
        self.text = text
        self.replyTo = replyTo
        self.digest = digest
    }

    package init(clientID: ClientID, forward: MessageReference?, replyTo: Int64? = nil, digest: [UInt8]) {
        self.clientID = clientID
        self.forward = forward
        self.replyTo = replyTo
        self.digest = digest
    }
}

/// What became of the checks of a message that is to be sent.
package enum CheckedMessage: Hashable, Sendable {
    case new(NewMessage)
    /// It was sent with this client id before.
    case duplicate(SeenMessage)
}

/// A message that may be sent, in the transaction in which it was checked.
package struct NewMessage: Hashable, Sendable {
    let outgoing: OutgoingMessage
    let found: MemberConversation
    /// The user who accepts the request by this message.
    let accepting: UserID?
    let text: MessageText?
    let voice: VoiceRecord?
    let forwardedFrom: UserID?
    /// Of a message that is forwarded: it is in the language of the original.
    let forwardedLanguage: MessageLanguage?
    let isWithheld: Bool

    /// Whether storing it writes nothing but the message, its mentions and its conversation, so that the order in which
    /// several are written makes no difference but to their numbers.
    package var isPlain: Bool {
        !isWithheld && accepting == nil && voice == nil && outgoing.thread == nil && outgoing.draft == nil
            && outgoing.readUpTo == nil
    }

    package var byteCount: Int { text?.text.utf8.count ?? 0 }
}
