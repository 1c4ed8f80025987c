// The user's own part of a conversation, which nobody else sees; it is the same on all of the user's devices.
extension Messages {
    /// Mutes notifications of the conversation, or ends that with nil, now or as soon as there is a connection.
    public func mute(_ mute: Mute?) async throws { try await realtime.change(.muted(mute), in: conversation) }

    /// Pins the conversation to the top of the list, at most 50 of them, or takes it off, now or as soon as there is a
    /// connection.
    public func setPinned(_ isPinned: Bool) async throws {
        try await realtime.change(.pinned(isPinned), in: conversation)
    }

    /// Moves the conversation to the archive, ``Conversations/archive(limit:after:)``, or back, now or as soon as there
    /// is a connection.
    public func setArchived(_ isArchived: Bool) async throws {
        try await realtime.change(.archived(isArchived), in: conversation)
    }

    /// Marks the conversation as unread, until something of it is read, now or as soon as there is a connection.
    public func markUnread(_ isUnread: Bool = true) async throws {
        try await realtime.change(.markedUnread(isUnread), in: conversation)
    }

    /// Sets whether others see what the user reads here, now or as soon as there is a connection; with nil,
    /// ``Me/receipts`` applies. If the user turns read receipts off, they do not see others' either.
    public func setReceipts(_ areShown: Bool?) async throws {
        try await realtime.change(.receipts(areShown), in: conversation)
    }

    /// When messages are explained here, now or as soon as there is a connection; nil is as ``Me/hints`` says.
    public func setHints(_ mode: TranslationSettings.Mode?) async throws {
        try await realtime.change(.hints(mode), in: conversation)
    }

    /// How the user reads other languages here, now or as soon as there is a connection; nil is as ``Me/translation``
    /// says.
    public func setTranslation(_ settings: TranslationSettings?) async throws {
        try await realtime.change(.translation(settings), in: conversation)
    }

    /// What machines may make of what the user writes here, now or as soon as there is a connection; nil is as
    /// ``Me/intelligence`` says. Of two people the lower level holds.
    public func setIntelligence(_ level: IntelligenceLevel?) async throws {
        try await realtime.change(.intelligence(level), in: conversation)
    }

    /// Saves what the user is writing for all of their devices, now or as soon as there is a connection:
    /// ``Membership/draft``. Save while the user pauses, such as three seconds after the last key; ``keepDraft(_:)``
    /// keeps each key on this device.
    ///
    /// - Parameters:
    ///   - text: At most 65,536 bytes of UTF-8; an empty one removes the draft.
    ///   - replyTo: The number of the message that it will reply to.
    ///   - draft: ``Membership/draft`` that this one continues; nil if there was none.
    /// - Returns: The stored draft; it is another one if this device knows a newer one. A draft that another device
    ///   saves meanwhile comes as ``Membership/draft``.
    @discardableResult
    public func saveDraft(_ text: String, replyTo: Int? = nil, basedOn draft: Draft? = nil) async throws -> Draft {
        let next = Draft(text: text, replyTo: replyTo, revision: (draft?.revision ?? 0) + 1)
        return try await realtime.saveDraft(next, in: conversation)
    }

    /// Stars a message, so that ``Conversations/search(_:)`` finds it, now or as soon as there is a connection.
    /// Starring twice changes nothing.
    public func star(_ number: Int) async throws { try await realtime.write(.star, number, in: conversation) }

    /// Takes a star off, now or as soon as there is a connection. Doing so twice changes nothing.
    public func unstar(_ number: Int) async throws { try await realtime.write(.unstar, number, in: conversation) }

    /// Deletes a message for the user alone, for ever, now or as soon as there is a connection.
    public func hide(_ number: Int) async throws { try await realtime.write(.hide, number, in: conversation) }

    /// Deletes all messages so far for the user alone, for ever, now or as soon as there is a connection: those that
    /// the user could see on this device. The conversation stays in the list.
    public func clear() async throws { try await realtime.clear(.clear, in: conversation) }

    /// Deletes all messages so far for the user alone, as ``clear()`` does, and takes the conversation off the list
    /// until somebody writes.
    public func deleteForMe() async throws { try await realtime.clear(.deleteForMe, in: conversation) }
}
