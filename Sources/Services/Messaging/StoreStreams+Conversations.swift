import Messaging
import Model
import Realtime
import Storage

// Conversations and inboxes: keyed state.
extension StoreStreams {
    /// Members of a snapshot: of a larger group, a client reads the list page by page.
    private static let shownMembers = 100
    /// Bytes of rows that are read at a time for a client that resumes.
    private static let rowBytes = 256 << 10

    func openConversation(
        _ id: ConversationID, after: Position?, for principal: Principal
    ) async throws -> StreamOpening {
        let (commands, user) = (conversations, principal.user)
        return try await store.read { store in
            let found = try commands.listen(id, by: user, in: store)
            let epoch = try store.epoch()
            let position = Position(epoch: epoch, sequence: found.conversation.sequence)
            let view = try commands.view(of: found, in: store)
            var reset: ResetReason?
            if let after {
                reset = after.epoch == epoch ? .gap : .epoch
                if after.epoch == epoch,
                    let changes = try commands.changes(
                        of: found, after: after.sequence, holding: after.held, in: store)
                {
                    return .state(try Self.rows(changes, after: after, upTo: position, view, in: store))
                }
            }
            let snapshot = try Self.snapshot(of: found, commands, in: store)
            return .state(StateOpening(.snapshot(snapshot), position, reset: reset, view: view))
        }
    }

    /// As many of the rows as are sent at a time. The remaining rows have changed later: the listener reads on from
    /// there.
    private static func rows(
        _ changes: ConversationChanges, after: Position, upTo position: Position, _ view: ConversationView,
        in store: StoreTransaction
    ) throws -> StateOpening {
        var rows: [String] = []
        var bytes = 0
        for row in changes.rows {
            if bytes >= rowBytes {
                let reached = Position(epoch: position.epoch, sequence: max(after.sequence, row.version - 1))
                return StateOpening(
                    .rows(rows, after: after.sequence, gap: changes.gap), reached, view: view, isComplete: false)
            }
            let json = view.json(of: try self.row(row, for: view.user, in: store))
            bytes += json.utf8.count
            rows.append(json)
        }
        return StateOpening(.rows(rows, after: after.sequence, gap: changes.gap), position, view: view)
    }

    private static func row(
        _ row: ConversationChanges.Row, for user: UserID, in store: StoreTransaction
    ) throws -> ConversationRow {
        switch row {
        case .conversation(let conversation): ConversationRow(conversation, for: user)
        case .message(let message): ConversationRow(message)
        case .member(let member): ConversationRow(member, profile: try store.people([member.user]).first)
        }
    }

    private static func snapshot(
        of found: MemberConversation, _ commands: ConversationCommands, in store: StoreTransaction
    ) throws -> [UInt8] {
        let (id, user) = (found.conversation.id, found.member.user)
        let window = try commands.window(of: id, by: user, in: store)
        let own = try commands.ownPart(of: user, in: id, store: store)
        let noted = try commands.own(of: window.messages, in: id, by: user, store: store)
        let members = try store.members(of: id, after: nil, limit: shownMembers + 1).map {
            $0.shown(in: found.conversation.kind)
        }
        let shown = members.prefix(shownMembers)
        let named = window.messages.flatMap { [$0.author] + ($0.notice?.users ?? []) }
        let people = try store.people(shown.map(\.user) + named)
        var writer = JSONWriter(capacity: 4096)
        writer.object { writer in
            writer.name("conversation")
            found.write(to: &writer)
            writer.name("membership")
            found.writeMembership(own, to: &writer)
            writer.name("members")
            writer.array(shown) { $1.write(to: &$0) }
            if members.count > shown.count { writer.member("moreMembers", true) }
            writer.write(people: people)
            window.writeMembers(to: &writer, own: noted)
        }
        return writer.bytes
    }

    func openMarks(
        of id: ConversationID, after: Position?, for principal: Principal
    ) async throws -> StreamOpening {
        let (commands, user) = (conversations, principal.user)
        return try await store.read { store in
            let found = try commands.listen(id, by: user, in: store)
            let position = try store.marksPosition()
            let view = try commands.marksView(of: found, in: store)
            var reset: ResetReason?
            if let after {
                reset = after.epoch == position.epoch ? .gap : .epoch
                if reset == .gap, after.sequence <= position.sequence,
                    let changes = try commands.marksChanges(of: found, after: after.sequence, in: store)
                {
                    let rows =
                        [ConversationRow(ownMarks: changes.own)]
                        + changes.others.map { ConversationRow(shownMarks: $0) }
                        + changes.notes.map { ConversationRow($0, of: user) }
                        + [ConversationRow(changes.scheduled, of: user)]
                    return .state(StateOpening(.rows(rows.map(\.json), after: after.sequence), position, view: view))
                }
            }
            let seen = try commands.seenMarks(of: found, in: store)
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.name("marks")
                writer.array([nil] + seen.others.map(Optional.some)) { writer, other in
                    if let other { other.writeShown(to: &writer) } else { seen.own.writeOwn(to: &writer) }
                }
                writer.name("scheduled")
                seen.scheduled.write(to: &writer)
            }
            return .state(StateOpening(.snapshot(writer.bytes), position, reset: reset, view: view))
        }
    }

    func openInbox(of user: UserID, after: Position?, for principal: Principal) async throws -> StreamOpening {
        guard user == principal.user else { throw Problem.notFound("stream", field: "stream") }
        let inboxes = inboxes
        return try await store.read { store in
            let position = try store.inboxPosition()
            var reset: ResetReason?
            if let after {
                reset = after.epoch == position.epoch ? .gap : .epoch
                if reset == .gap, after.sequence <= position.sequence,
                    let rows = try inboxes.changes(of: user, after: after.sequence, in: store)
                {
                    return .state(StateOpening(.rows(rows, after: after.sequence), position))
                }
            }
            let page = try inboxes.page(of: user, after: nil, limit: InboxReader.window, in: store)
            var writer = JSONWriter(capacity: 4096)
            writer.object { $0.write(page) }
            return .state(StateOpening(.snapshot(writer.bytes), position, reset: reset))
        }
    }
}

extension JSONWriter {
    /// Writes the members of a page of the inbox.
    package mutating func write(_ page: InboxReader.Page) {
        name("conversations")
        array(page.rows) { $0.write(json: $1) }
        name("totals")
        object { writer in
            writer.member("unread", Int64(page.unread))
            writer.member("mentions", Int64(page.mentions))
        }
        member("nextCursor", page.next)
    }
}
