public import Foundation

/// A message as a chat shows it: stored by the server, or waiting to be.
public struct ChatMessage: Hashable, Sendable, Identifiable {
    /// Whether the server has the message as it is shown. Later versions may have more: a `switch` needs a `default`.
    public enum Delivery: Hashable, Sendable {
        /// It waits for a connection, or for the server's answer.
        case sending
        /// The server has it.
        case sent
        /// The server refused it, for the reason that is given: the message, or its edit or deletion.
        /// ``Messages/retry(_:)-(Message.ID)`` sends it again, ``Messages/discard(_:)-(Message.ID)`` gives it up.
        case failed(Problem)
    }

    /// The message's identity, the same before and after it was sent.
    public var id: Message.ID
    /// What the server has; nil while it has nothing.
    public var message: Message?
    /// The text to show, an edit that waits included; nil if it was deleted, of a call, and of a voice message.
    public var text: String?
    /// When it was sent, or written.
    public var date: Date
    /// The message that it replies to, by its number; nil also while that one waits too.
    public var replyTo: Int?
    /// The number of the message in whose thread it is; nil also while that one waits too.
    public var thread: Int?
    /// Whether its text was changed.
    public var isEdited: Bool
    /// Whether the server has the message as it is shown.
    public var delivery: Delivery
    /// Its text, or what it says, in the language in which the user reads; nil if there is none of this text, of one's
    /// own, and if the user wants none. See ``Messages/translate(_:into:)``.
    public var translation: Translation?
    /// What of its text the user may not understand; nil if nothing is known, and if the user wants none. See
    /// ``Messages/hints(on:)``.
    public var hints: Hints?

    /// The user who wrote it.
    public var author: UserID { id.author }
    /// Its place in the conversation; nil while it waits.
    public var number: Int? { message?.number }
    /// Whether it was deleted.
    public var isDeleted: Bool {
        guard !isDeletionShown else { return true }
        guard text == nil, call == nil, voice == nil else { return false }
        // One of a kind that has no text is there without it.
        return message.map { $0.deletedAt != nil || $0.text != nil } ?? true
    }
    /// The call that it follows, of a message of kind ``Message/Kind/call``: it has no text.
    public var call: CallRecord? { message?.call }
    /// The sound of a message of kind ``Message/Kind/voice``: it has no text. Nil once its deletion waits.
    public var voice: VoiceRecord? { isDeletionShown ? nil : message?.voice ?? waitingVoice }
    private var isDeletionShown = false
    private var waitingVoice: VoiceRecord?
    /// What happened, of a message of kind ``Message/Kind/notice``.
    public var notice: Notice? { message?.notice }

    init(_ message: Message, _ translations: TranslationsState = TranslationsState()) {
        id = message.id
        self.message = message
        text = message.deletedAt == nil ? message.text : nil
        date = message.sentAt
        replyTo = message.replyTo
        thread = message.thread
        isEdited = message.editedAt != nil
        delivery = .sent
        translation = translations.translation(of: message)
        hints = translations.hints(on: message)
    }

    init(_ entry: WriteEntry, author: UserID) {
        id = Message.ID(author: author, clientID: entry.clientID)
        text = entry.kind == .forward ? entry.text ?? "" : entry.text
        date = entry.date
        if case .number(let number) = entry.replyTo { replyTo = number }
        if case .number(let number) = entry.thread { thread = number }
        waitingVoice = entry.sound.map { VoiceRecord($0) }
        isEdited = false
        delivery = entry.delivery
    }

    /// Shows an edit or a deletion that waits, or was refused.
    mutating func apply(_ entry: WriteEntry) {
        switch entry.kind {
        case .edit:
            text = entry.text
            isEdited = true
            (translation, hints) = (nil, nil)
        // What may not be deleted is still there.
        case .delete:
            guard entry.failure == nil else { break }
            (text, isDeletionShown) = (nil, true)
            (translation, hints) = (nil, nil)
        default: return
        }
        delivery = entry.delivery
    }
}

extension VoiceRecord {
    /// Of a message that waits to be sent.
    fileprivate init(_ sound: WriteEntry.Sound) {
        self.init(
            file: sound.isOnServer ? sound.name : nil, durationMs: sound.durationMs, byteCount: sound.byteCount,
            contentType: "audio/ogg", waveform: sound.waveform, level: sound.level)
    }
}

extension WriteEntry {
    fileprivate var delivery: ChatMessage.Delivery { failure.map { .failed($0.problem) } ?? .sending }
}
