// The user's own part of a conversation, which nobody else sees; it is the same on all of the user's devices.
extension Messages {
    private struct Setting<Value: Encodable & Sendable>: Encodable, Sendable {
        let conversation: ConversationID
        let name: String
        let value: Value?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(conversation, forKey: AnyKey("conversation"))
            // A value that ends is null, which differs from none.
            if let value {
                try container.encode(value, forKey: AnyKey(name))
            } else {
                try container.encodeNil(forKey: AnyKey(name))
            }
        }
    }
    private struct MembershipResult: Decodable, Sendable { var membership: Membership }

    /// Mutes notifications of the conversation, or ends that with nil.
    @discardableResult
    public func mute(_ mute: Mute?) async throws -> Membership { try await set("muted", mute) }

    /// Pins the conversation to the top of the list, at most 50 of them, or takes it off.
    @discardableResult
    public func setPinned(_ isPinned: Bool) async throws -> Membership { try await set("pinned", isPinned) }

    /// Moves the conversation to the archive, ``Conversations/archive(limit:after:)``, or back.
    @discardableResult
    public func setArchived(_ isArchived: Bool) async throws -> Membership { try await set("archived", isArchived) }

    /// Marks the conversation as unread, until something of it is read.
    @discardableResult
    public func markUnread(_ isUnread: Bool = true) async throws -> Membership {
        try await set("markedUnread", isUnread)
    }

    /// Whether others are shown what the user reads here; nil is as ``Me/receipts`` says. Who shows nothing sees nothing.
    @discardableResult
    public func setReceipts(_ areShown: Bool?) async throws -> Membership { try await set("receipts", areShown) }

    /// Saves what the user is writing for all of their devices: ``Membership/draft``. Save while the user pauses, such as
    /// three seconds after the last key; ``keepDraft(_:)`` keeps each key on this device.
    ///
    /// - Parameters:
    ///   - text: At most 65,536 bytes of UTF-8; an empty one removes the draft.
    ///   - replyTo: The number of the message that it will reply to.
    ///   - draft: ``Membership/draft`` that this one continues; nil if there was none.
    /// - Returns: The draft that is kept: another one, if another device has saved meanwhile.
    @discardableResult
    public func saveDraft(_ text: String, replyTo: Int? = nil, basedOn draft: Draft? = nil) async throws -> Draft? {
        let next = Draft(text: text, replyTo: replyTo, revision: (draft?.revision ?? 0) + 1)
        return try await set("draft", next).draft
    }

    /// Stars a message, so that ``Conversations/search(_:)`` finds it, now or as soon as there is a connection. Starring twice
    /// changes nothing.
    public func star(_ number: Int) async throws { try await realtime.write(.star, number, in: conversation) }

    /// Takes a star off, now or as soon as there is a connection. Doing so twice changes nothing.
    public func unstar(_ number: Int) async throws { try await realtime.write(.unstar, number, in: conversation) }

    /// Deletes a message for the user alone, for ever, now or as soon as there is a connection.
    public func hide(_ number: Int) async throws { try await realtime.write(.hide, number, in: conversation) }

    /// Deletes all messages so far for the user alone, for ever, now or as soon as there is a connection: those that the user
    /// could see on this device. The conversation stays in the list.
    public func clear() async throws { try await realtime.clear(.clear, in: conversation) }

    /// Deletes all messages so far for the user alone, as ``clear()`` does, and takes the conversation off the list until
    /// somebody writes.
    public func deleteForMe() async throws { try await realtime.clear(.deleteForMe, in: conversation) }

    private func set(_ name: String, _ value: (some Encodable & Sendable)?) async throws -> Membership {
        let result: MembershipResult = try await realtime.request(
            "members.updateMe", Setting(conversation: await realtime.resolve(conversation), name: name, value: value))
        await realtime.keep(result.membership, in: conversation)
        return result.membership
    }
}

/// A member's name in JSON.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
