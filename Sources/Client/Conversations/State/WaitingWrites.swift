import Foundation

// What waits to be written is shown as done, until the server refuses it.
extension Messages.State {
    /// - Parameter owner: the user who writes.
    mutating func apply(_ entries: [WriteEntry], of owner: UserID) {
        for entry in entries {
            if let write = WaitingWrite(entry) { writes.append(write) }
            if entry.kind == .create { apply(creation: entry) }
            if entry.failure == nil { apply(entry, of: owner) }
        }
    }

    private mutating func apply(creation entry: WriteEntry) {
        guard let creation = entry.creation else { return }
        conversation = Conversation(creation, id: entry.conversation, at: entry.date)
        problem = entry.failure?.problem
    }

    private mutating func apply(_ entry: WriteEntry, of owner: UserID) {
        switch (entry.kind, entry.target) {
        case (.clear, _), (.deleteForMe, _):
            let number = entry.upTo ?? .max
            messages.removeAll { $0.number.map { $0 <= number } ?? false }
            if messages.first.flatMap(\.number) == nil { hasEarlier = false }
        case (.membership, _):
            guard var membership else { return }
            entry.membership?.apply(to: &membership)
            self.membership = membership
        case (let kind, .number(let number)):
            switch kind {
            case .react, .removeReaction: react(entry.emoji ?? "", kind == .react, to: number, by: owner)
            case .star, .unstar: marks.note(on: number) { $0.starred = kind == .star }
            case .pin, .unpin:
                let others = (conversation?.pins ?? []).filter { $0 != number }
                conversation?.pins = kind == .pin ? [number] + others : others
            case .listen: marks.note(on: number) { $0.listened = true }
            case .hide: messages.removeAll { $0.number == number }
            default: break
            }
        default: break
        }
    }

    private mutating func react(_ emoji: String, _ isOn: Bool, to number: Int, by owner: UserID) {
        if let index = messages.firstIndex(where: { $0.number == number }), messages[index].message?.deletedAt == nil {
            messages[index].message?.react(
                emoji, isOn, hasReacted: marks.own[number]?.reacted.contains(emoji), by: owner)
        }
        marks.note(on: number) { note in
            note.reacted.removeAll { $0 == emoji }
            if isOn { note.reacted.append(emoji) }
        }
    }
}

extension Conversations.State {
    mutating func apply(_ entries: [WriteEntry]) {
        for entry in entries {
            switch (entry.kind, entry.failure) {
            case (.create, let failure?): failed[entry.conversation] = failure.problem
            case (.create, nil):
                guard let creation = entry.creation else { continue }
                let conversation = Conversation(creation, id: entry.conversation, at: entry.date)
                let row = InboxRow(
                    id: entry.conversation, conversation: conversation, unread: 0, mentions: 0, counter: 0)
                rows.insert(row, at: rows.firstIndex { $0.membership?.pinned != true } ?? rows.endIndex)
            case (.clear, nil), (.deleteForMe, nil):
                guard let index = rows.firstIndex(where: { $0.id == entry.conversation }) else { continue }
                let hasNewer = rows[index].conversation?.lastNumber ?? 0 > entry.upTo ?? .max
                guard !hasNewer else { continue }
                if rows[index].isUnread { unread = max(0, unread - 1) }
                if entry.kind == .deleteForMe {
                    rows.remove(at: index)
                } else {
                    (rows[index].lastMessage, rows[index].unread, rows[index].mentions) = (nil, 0, 0)
                }
            default: continue
            }
        }
    }
}

extension Conversation {
    /// A conversation that waits to be created.
    fileprivate init(_ creation: NewConversation, id: ConversationID, at time: Date) {
        self.init(
            id: id, kind: creation.kind, name: creation.name, createdAt: time,
            members: (creation.members?.count ?? 0) + 1,
            pins: [], version: 0)
    }
}

extension Message {
    /// Shows a reaction as there, or as gone.
    ///
    /// - Parameter hasReacted: whether the user has it already; nil if only the first users of it are known.
    fileprivate mutating func react(_ emoji: String, _ isOn: Bool, hasReacted: Bool?, by user: UserID) {
        var summary = reactions?[emoji] ?? ReactionSummary(count: 0, users: [])
        let isThere = hasReacted ?? summary.users.contains(user)
        guard isOn != isThere else { return }
        summary.count = max(0, summary.count + (isOn ? 1 : -1))
        summary.users.removeAll { $0 == user }
        if isOn, summary.users.count < 20 { summary.users.append(user) }
        var all = reactions ?? [:]
        all[emoji] = summary.count > 0 ? summary : nil
        reactions = all
    }
}

extension ConversationMarks {
    fileprivate mutating func note(on number: Int, _ change: (inout OwnMessage) -> Void) {
        var note = own[number] ?? OwnMessage(number: number, starred: false, reacted: [], counter: 0)
        change(&note)
        own[number] = note
    }
}
