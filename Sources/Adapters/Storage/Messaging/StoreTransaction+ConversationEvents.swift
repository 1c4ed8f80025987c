import Accounts
import Messaging
import Model
import Webhooks

// What the app's own server is told of conversations: only if it has subscribed.
extension StoreTransaction {
    func insertEvents(of one: TouchedConversations.Touched, _ conversation: Conversation) throws {
        let kind = conversation.kind.rawValue
        if one.sequence == 0 || one.hasNewSettings(conversation) {
            let data = EventData.conversation(conversation.id, kind: kind, version: conversation.version)
            try insert(event(one.sequence == 0 ? .conversationCreated : .conversationUpdated, data: data))
        }
        for row in one.order {
            switch row {
            case .member(let user):
                // That a request was declined is told to nobody, nor that somebody who has left is kept out.
                guard subscriptions.includes(.conversationMember), let known = one.members[user],
                    known.version > one.sequence, known.state != .left || conversation.kind != .direct
                else { continue }
                let member = known.shown(in: conversation.kind)
                let data = EventData.member(
                    try parties([user])[user] ?? EventParty(user: user), role: member.role.rawValue,
                    state: member.state.rawValue, of: conversation.id,
                    kind: kind, version: member.version)
                try insert(event(.conversationMember, user: user, data: data))
            case .message(let number):
                if let message = one.messages[number] { try insertEvent(of: message, one, conversation) }
            }
        }
    }

    private func insertEvent(
        of message: Message, _ one: TouchedConversations.Touched, _ conversation: Conversation
    ) throws {
        let type: EventType
        switch message {
        case _ where message.isWithheld || message.isTextWithheld: return
        // What a notice tells has events of its own.
        case _ where message.kind == .notice: return
        case _ where message.number > one.lastNumber: type = .messageCreated
        case _ where message.deletedAt != nil: type = .messageDeleted
        // Calls have events of their own.
        case _ where message.kind == .call: return
        case _ where message.kind == .voice: return try insertTranscriptEvent(of: message, conversation)
        case _ where message.version == message.textVersion: type = .messageEdited
        default: return
        }
        guard subscriptions.includes(type) else { return }
        var recipient: UserID?
        if conversation.kind == .direct, conversation.memberCount > 1 {
            recipient = try members(of: conversation.id, after: nil, limit: 2).first { $0.user != message.author }?.user
        }
        let parties = try parties([message.author, recipient].compactMap(\.self))
        let data = EventData.message(
            message.number, of: message.kind.rawValue, call: message.call?.id,
            by: parties[message.author] ?? EventParty(user: message.author),
            to: recipient.map { parties[$0] ?? EventParty(user: $0) },
            mentions: FoundRanges(ranges: message.ranges).mentionedUsers, sentAt: message.sentAt, in: conversation.id,
            kind: conversation.kind.rawValue, version: message.version)
        try insert(event(type, user: message.author, data: data))
    }

    /// Of a voice message only its transcript changes.
    private func insertTranscriptEvent(of message: Message, _ conversation: Conversation) throws {
        guard message.version == message.textVersion, subscriptions.includes(.transcriptReady),
            let status = message.voice?.transcript?.status, status != .pending
        else { return }
        let author = EventParty(user: message.author, externalID: try externalIDs(of: [message.author])[message.author])
        let data = EventData.transcript(
            of: message.number, status: status.rawValue, by: author, in: conversation.id,
            kind: conversation.kind.rawValue, version: message.version)
        try insert(event(.transcriptReady, user: message.author, data: data))
    }

    private func event(_ type: EventType, user: UserID? = nil, data: String) -> EventRecord {
        EventRecord(id: .make(at: now), type: type, at: now, user: user, data: data)
    }

    /// Those of a few users who are known.
    private func parties(_ users: [UserID]) throws -> [UserID: EventParty] {
        let rows = try sql.query(
            """
            SELECT u.id, o.subject, u.display_name FROM users u
            LEFT JOIN outside_identities o ON o.user_id = u.id AND o.issuer = ?1
            WHERE u.id IN \(Placeholders.list(users.count, from: 2))
            """, [.text(UserReference.issuer)] + users.map { .id($0) })
        var parties: [UserID: EventParty] = [:]
        for row in rows {
            let user: UserID = try row.id(0)
            parties[user] = EventParty(
                user: user, externalID: try row.textIfPresent(1), displayName: try row.text(2))
        }
        return parties
    }
}
