import Languages
import Messaging
import Model

// What listeners and inboxes are told of a transaction.
extension StoreTransaction {
    /// Writes what was changed in conversations, with the counter of this transaction, and returns what to publish once it
    /// is committed.
    func finishConversations() throws -> [ConversationUpdate] {
        guard !touched.order.isEmpty || !touched.imported.isEmpty else { return [] }
        let sends = max(1, self.sends?.count ?? 1)
        guard
            let row = try sql.first(
                "UPDATE log SET counter = counter + ?1 WHERE id = 1 RETURNING counter, epoch", [.integer(sends)])
        else { throw SQLError(.failed, "The change log has no epoch: the database was never prepared.") }
        let (counter, epoch) = (try row.integer(0), try row.text(1))
        // Of several sends, a conversation has the counter that the last one in it would have had alone.
        let updates = try touched.order.compactMap { id in
            guard let one = touched[id] else { return nil as ConversationUpdate? }
            let behind = self.sends?.last[id].map { sends - $0 } ?? 0
            return try finish(id, one, counter: counter - behind, epoch: epoch)
        }
        return try (self.sends == nil ? updates : updates.sorted { $0.counter < $1.counter })
            + finishImported(counter: counter, epoch: epoch)
    }

    private func finish(
        _ id: ConversationID, _ one: TouchedConversations.Touched, counter: Int64, epoch: String
    ) throws -> ConversationUpdate? {
        guard let conversation = try one.unwritten ?? self.conversation(id) else { return nil }
        let hasRows = isListened(.conversation(id))
        let rows = hasRows ? try rows(of: one, conversation) : []
        let isNewer = one.unwritten != nil && conversation.version != one.version
        let isSeen = one.messages.values.contains { !$0.isWithheld && $0.shownVersion == $0.version }
        let movesEverybody = isNewer || isSeen
        // A notice is the row's last message, and does not bring it up.
        let hasNewMessages = one.messages.values.contains { $0.number > one.lastNumber && $0.kind != .notice }
        if let unwritten = one.unwritten {
            try write(
                unwritten, counter: movesEverybody ? counter : nil, activity: isSeen && hasNewMessages ? counter : nil)
        }
        let hasNews = one.messages.values.contains {
            $0.number > one.lastNumber && $0.kind != .notice && $0.kind != .call && !$0.isWithheld
        }
        if hasNews { try notePush(of: conversation, after: one.lastNumber) }
        try insertEvents(of: one, conversation)
        // Who is not in it, and sees what they saw before, is told nothing: of an invitation that does not reach them, or that
        // they are kept out.
        let notified = one.members.values.filter { $0.state != .left || one.spans.contains($0.user) }.map(\.user)
        // What only its author sees moves their own row alone.
        var moved = Set(notified).union(one.newReaders(of: conversation)).union(one.spans).union(one.own).union(
            one.hiding
        )
        .union(
            isSeen
                ? []
                : one.messages.values.filter { $0.textVersion == $0.version || $0.isWithheld || $0.isTextWithheld }
                    .map(\.author)
        )
        // A reaction of somebody who is blocked, too.
        .union(
            isSeen ? [] : one.notes.filter { note in note.value.contains { one.messages[$0] != nil } }.map(\.key))
        if conversation.kind == .group {
            let deleted = one.messages.values.filter { $0.deletedAt != nil && $0.number <= one.lastNumber }
            moved.formUnion(try formerReaders(ofLast: Set(deleted.map(\.number)), in: id))
        }
        for user in moved.sorted(by: { $0.text < $1.text }) {
            // A change of role is no activity.
            let isMoving = one.members[user].map { $0.state == .invited || one.spans.contains(user) } ?? false
            let isActivity = isMoving || hasNewMessages && !isSeen
            try sql.execute(
                """
                UPDATE members SET counter = ?3, activity = COALESCE(?4, activity)
                WHERE conversation_id = ?1 AND user_id = ?2
                """, [.id(id), .id(user), .integer(counter), .integer(isActivity ? counter : nil)])
        }
        if one.unwritten != nil, conversation.hasEnded {
            moved.formUnion(try endInvitations(to: id, counter: counter))
        } else if one.unwritten != nil, one.hasNewInvitation(conversation) {
            moved.formUnion(try moveInvited(to: id, counter: counter))
        }
        let after = one.unwritten == nil ? conversation.sequence : one.sequence
        var update = ConversationUpdate(
            conversation: id, epoch: epoch, after: after, upTo: conversation.sequence, rows: rows,
            counter: counter, movesEverybody: movesEverybody, moved: moved, access: try access(of: one, id))
        update.hasRows = hasRows
        if one.marksCounter > 0 {
            update.hasMarks = isListened(.marks(id))
            update.marks = update.hasMarks ? try marks(of: one, conversation) : []
        }
        update.marksCounter = one.marksCounter
        update.marksAccess = one.receipts
        if let counter = (one.translations.map(\.row.touched) + one.hints.map(\.row.touched)).max() {
            let hasListeners = isListened(.translations(id))
            let rows =
                one.translations.map { ConversationRow($0.row, for: $0.audience) }
                + one.hints.map { ConversationRow($0.row, for: $0.audience) }
            update.translations = TranslationUpdate(rows: hasListeners ? rows : nil, counter: counter)
        }
        update.translationsAccess = one.choices
        return update
    }

    /// The rows of those who are invited to a group move with its name, settings and number of members alone.
    private func moveInvited(to id: ConversationID, counter: Int64) throws -> [UserID] {
        try sql.query(
            "UPDATE members SET counter = ?2 WHERE conversation_id = ?1 AND state = 'invited' RETURNING user_id",
            [.id(id), .integer(counter)]
        ).map { try $0.id(0) }
    }

    /// Nobody is left to whom they were invited: it is gone from their lists.
    private func endInvitations(to id: ConversationID, counter: Int64) throws -> [UserID] {
        try sql.query(
            """
            UPDATE members SET state = 'left', invited_by = NULL, counter = ?2
            WHERE conversation_id = ?1 AND state = 'invited' RETURNING user_id
            """, [.id(id), .integer(counter)]
        ).map { try $0.id(0) }
    }

    /// Of those who have left no more learn of a deletion in their inbox before they read it again.
    private static let maxFormerReaders = 1_000
    private static let maxHidden = 1_000

    /// Those who have left, invited again or not, and whose inbox shows one of these messages as the last: a deletion reaches
    /// them too.
    private func formerReaders(ofLast numbers: Set<Int64>, in id: ConversationID) throws -> [UserID] {
        guard let first = numbers.min() else { return [] }
        // For almost all it is the last number of the span: others have hidden that one.
        let hidesLast = """
            EXISTS (SELECT 1 FROM own o WHERE o.user_id = s.user_id AND o.conversation_id = ?1
                AND o.number = s.until_number AND o.hidden = 1)
            """
        let left = try sql.query(
            """
            SELECT s.user_id, s.from_number, s.until_number, \(hidesLast) FROM spans s
            JOIN members m ON m.conversation_id = s.conversation_id AND m.user_id = s.user_id
            WHERE s.conversation_id = ?1 AND s.until_number >= ?2 AND m.state <> 'member' AND (
                s.until_number IN \(Placeholders.list(numbers.count, from: 4)) OR \(hidesLast))
            LIMIT ?3
            """,
            [.id(id), .integer(first), .integer(Self.maxFormerReaders)] + numbers.sorted().map { .integer($0) })
        return try left.compactMap { row in
            let (user, from, until): (UserID, Int64, Int64) = (try row.id(0), try row.integer(1), try row.integer(2))
            guard from < until else { return nil }
            guard try row.bool(3) else { return user }
            let hidden = try hiddenNumbers(of: user, in: id, from + 1...until, limit: Self.maxHidden)
            // Of who has hidden more than that, the row moves in any case.
            guard hidden.count < Self.maxHidden else { return user }
            let rest = Set(hidden)
            let last = (from + 1...until).reversed().first { !rest.contains($0) }
            return last.map(numbers.contains) == true ? user : nil
        }
    }

    /// Each member gets what they have noted themselves, and of others' marks what those show.
    private func marks(
        of one: TouchedConversations.Touched, _ conversation: Conversation
    ) throws -> [ConversationRow] {
        let commands = ConversationCommands()
        var rows: [ConversationRow] = []
        for (_, saved) in one.marks.sorted(by: { $0.key.text < $1.key.text }) {
            rows.append(ConversationRow(ownMarks: saved.marks))
            if saved.isShown, commands.tellsMarks(in: conversation) {
                rows.append(ConversationRow(shownMarks: saved.marks))
            }
        }
        for (user, numbers) in one.notes.sorted(by: { $0.key.text < $1.key.text }) {
            for number in numbers.sorted() {
                let note = try commands.note(on: number, in: conversation.id, of: user, store: self)
                if let note { rows.append(ConversationRow(note, of: user)) }
            }
        }
        for user in one.scheduled.sorted(by: { $0.text < $1.text }) {
            rows.append(ConversationRow(try scheduledSummary(of: user, in: conversation.id), of: user))
        }
        return rows
    }

    private func rows(
        of one: TouchedConversations.Touched, _ conversation: Conversation
    ) throws -> [ConversationRow] {
        var rows: [ConversationRow] = []
        if one.unwritten != nil, conversation.version != one.version {
            rows += try self.rows(of: conversation)
        }
        rows += one.newReaders(of: conversation).map { ConversationRow(conversation, for: $0) }
        for row in one.order {
            switch row {
            case .message(let number):
                guard let message = one.messages[number]?.asOf(now) else { continue }
                rows += try self.rows(of: message, after: one, conversation)
            case .member(let user):
                // One without a new version is as others see it already.
                guard let member = one.members[user], member.version > one.sequence,
                    member.state != .left || conversation.kind != .direct
                else { continue }
                rows.append(ConversationRow(member.shown(in: conversation.kind), profile: try people([user]).first))
            }
        }
        return rows
    }

    private func rows(of conversation: Conversation) throws -> [ConversationRow] {
        let isWithheld =
            conversation.pins.contains { $0.onlyFor != nil } || !conversation.withheldTimers.isEmpty
            || conversation.liveCall?.onlyFor != nil || !conversation.withheldVersions.isEmpty
            || conversation.withheldEnd != nil
        guard isWithheld else { return [ConversationRow(conversation)] }
        return try members(of: conversation.id, after: nil, limit: 2).map {
            ConversationRow(conversation, for: $0.user)
        }
    }

    /// Where changes may be withheld, each of the two gets the message as they see it, unless nothing has changed for them.
    private func rows(
        of message: Message, after one: TouchedConversations.Touched, _ conversation: Conversation
    ) throws -> [ConversationRow] {
        let isNew = message.number > one.lastNumber
        if let seen = SeenMessage.shared(message, in: conversation.kind, isNew: isNew) {
            return [ConversationRow(seen)]
        }
        return try members(of: conversation.id, after: nil, limit: 2).compactMap { member in
            guard let seen = try ConversationCommands().seen(message, by: member.user, in: self),
                seen.version > one.sequence
            else { return nil }
            return ConversationRow(seen, seenBy: member.user)
        }
    }

    private func access(
        of one: TouchedConversations.Touched, _ id: ConversationID
    ) throws -> [UserID: ListenerAccess] {
        var access: [UserID: ListenerAccess] = [:]
        for user in one.spans.union(one.members.keys) {
            guard let member = try one.members[user] ?? self.member(user, of: id) else { continue }
            if member.state == .left {
                access[user] = .ended
            } else if one.spans.contains(user), one.sequence > 0 {
                access[user] = .changed
            }
        }
        for user in one.hiding where access[user] == nil { access[user] = .hidden }
        return access
    }
}
