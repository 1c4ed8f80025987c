public import Foundation

/// A write that waits for the server, or that it refused, and that is no message, edit or deletion: those are shown by
/// ``ChatMessage/delivery-swift.property``.
public struct WaitingWrite: Hashable, Sendable, Identifiable {
    /// The kind of the write. Later versions may have more: a `switch` needs a `default`.
    public enum Action: Hashable, Sendable {
        /// The conversation is created.
        case create
        /// An emoji is added to a message's reactions, or removed.
        case react(String), removeReaction(String)
        /// The user stars a message, or takes the star off.
        case star, unstar
        /// A message is pinned for all, or unpinned.
        case pin, unpin
        /// A message is deleted for the user alone.
        case hide
        /// The user has listened to a voice message.
        case listen
        /// All messages so far are deleted for the user alone; and the conversation is taken off the list.
        case clear, deleteForMe
        /// The server is to send a message later.
        case schedule(ScheduledMessage)
        /// Such a message gets another text or time; a property that is nil stays unchanged.
        case reschedule(MessageClientID, text: String?, sendAt: Date?)
        /// Such a message is sent now, or deleted.
        case sendNow(MessageClientID), unschedule(MessageClientID)
        /// Notifications of the conversation are muted, or not any more.
        case mute(Mute?)
        /// The conversation is pinned to the top of the list, archived or marked as unread, or that ends.
        case pinConversation(Bool), archive(Bool), markUnread(Bool)
        /// Whether others are shown what the user reads in the conversation.
        case showReceipts(Bool?)
        /// How the user reads other languages in the conversation, and what machines may make of what they write there.
        case translate(TranslationSettings?), allow(IntelligenceLevel?), explain(TranslationSettings.Mode?)
        /// What the user is writing is saved for all of their devices.
        case saveDraft(Draft)
    }

    /// The identity of a write.
    public struct ID: Hashable, Sendable { let clientID: MessageClientID }

    /// The write's identity.
    public var id: ID
    /// What is written.
    public var action: Action
    /// The number of the message that it is about; nil if it is about no message, or about one that also waits.
    public var number: Int?
    /// Why the server refused it: it is not shown as done any more. Nil while it waits.
    public var problem: Problem?

    init?(_ entry: WriteEntry) {
        let emoji = entry.emoji ?? ""
        switch entry.kind {
        case .send, .forward, .voice, .edit, .delete: return nil
        case .create: action = .create
        case .react: action = .react(emoji)
        case .removeReaction: action = .removeReaction(emoji)
        case .star: action = .star
        case .unstar: action = .unstar
        case .pin: action = .pin
        case .unpin: action = .unpin
        case .hide: action = .hide
        case .clear: action = .clear
        case .deleteForMe: action = .deleteForMe
        case .listen: action = .listen
        case .schedule: action = .schedule(ScheduledMessage(entry))
        case .reschedule: action = .reschedule(entry.scheduled, text: entry.text, sendAt: entry.sendAt)
        case .sendNow: action = .sendNow(entry.scheduled)
        case .unschedule: action = .unschedule(entry.scheduled)
        case .membership:
            guard let membership = entry.membership else { return nil }
            action = Action(membership)
        }
        id = ID(clientID: entry.clientID)
        if case .number(let number) = entry.target { self.number = number }
        problem = entry.failure?.problem
    }
}

extension WaitingWrite.Action {
    fileprivate init(_ change: MembershipChange) {
        switch change {
        case .muted(let mute): self = .mute(mute)
        case .pinned(let isPinned): self = .pinConversation(isPinned)
        case .archived(let isArchived): self = .archive(isArchived)
        case .markedUnread(let isUnread): self = .markUnread(isUnread)
        case .receipts(let areShown): self = .showReceipts(areShown)
        case .translation(let settings): self = .translate(settings)
        case .hints(let mode): self = .explain(mode)
        case .intelligence(let level): self = .allow(level)
        case .draft(let draft): self = .saveDraft(draft)
        }
    }
}

extension ScheduledMessage {
    /// A message that the server does not have yet.
    fileprivate init(_ entry: WriteEntry) {
        var replyTo: Int?
        if case .number(let number)? = entry.replyTo { replyTo = number }
        self.init(
            conversation: entry.conversation, clientID: entry.clientID, text: entry.text ?? "", replyTo: replyTo,
            sendAt: entry.sendAt ?? entry.date, createdAt: entry.date)
    }
}

extension WriteEntry {
    /// The client id of the scheduled message that it is about.
    fileprivate var scheduled: MessageClientID {
        if case .waiting(let clientID)? = target { clientID } else { clientID }
    }

    /// When it was written.
    var date: Date { Date(timeIntervalSince1970: Double(createdAt) / 1_000) }
}
