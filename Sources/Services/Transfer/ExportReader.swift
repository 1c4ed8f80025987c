import Accounts
import Messaging
import Model
import Storage
import Transfer

/// Reads one page of an export.
struct ExportReader {
    let store: StoreTransaction
    let commands: ConversationCommands
    let scope: ExportScope

    typealias Page = (records: [TransferRecord], next: ExportCursor?)

    func page(after cursor: ExportCursor?) throws -> Page {
        let cursor = try cursor ?? first()
        switch cursor.stage {
        case .users: return try users(after: cursor.user)
        case .account: return try account()
        case .conversation: return try conversation(after: cursor.conversation)
        case .members: return try members(of: existing(cursor), after: cursor.user)
        case .messages: return try messages(in: existing(cursor), after: cursor.number)
        case .own: return try own(in: existing(cursor), after: cursor)
        }
    }

    private func first() throws -> ExportCursor {
        switch scope {
        case .all: return ExportCursor(.users)
        case .user(let user):
            guard try store.user(user) != nil else { throw Problem.notFound("user", field: "user") }
            return ExportCursor(.account)
        case .conversation, .member: return ExportCursor(.conversation)
        }
    }

    /// Whose view it is; nil for the operator's.
    var reader: UserID? {
        switch scope {
        case .all, .conversation: nil
        case .user(let user), .member(let user, _): user
        }
    }

    private func existing(_ cursor: ExportCursor) throws -> Conversation {
        guard let id = cursor.conversation else { throw Problem.notFound("conversation", field: "conversation") }
        return try found(id)
    }

    private func found(_ id: ConversationID) throws -> Conversation {
        if let reader { return try commands.get(id, by: reader, in: store).conversation }
        guard let conversation = try store.conversation(id) else {
            throw Problem.notFound("conversation", field: "conversation")
        }
        return conversation
    }

    private func account() throws -> Page {
        let user = try reader.flatMap { try store.user($0) }
        return (try records(of: user.map { [$0] } ?? []), ExportCursor(.conversation))
    }

    private func users(after last: UserID?) throws -> Page {
        let page = try store.users(after: last, limit: Exporter.limit)
        let records = try records(of: page)
        guard let last = page.last?.id, page.count == Exporter.limit else {
            return (records, ExportCursor(.conversation))
        }
        return (records, ExportCursor(.users, user: last))
    }

    /// The line of the next conversation.
    private func conversation(after last: ConversationID?) throws -> Page {
        guard let id = try next(after: last) else { return ([], nil) }
        let conversation: Conversation
        do {
            conversation = try found(id)
        } catch let problem as Problem where problem.kind == .notFound || problem.kind == .forbidden {
            // The user sees nothing of it any more.
            if case .user = scope { return ([], ExportCursor(.conversation, of: id)) }
            throw problem
        }
        var record = TransferConversation(id: id.text, kind: conversation.kind)
        record.name = conversation.name
        record.createdAt = conversation.createdAt
        record.settings = conversation.settings
        record.disappearAfter =
            if let reader { conversation.disappearAfter(for: reader) } else { conversation.disappearAfter }
        if conversation.kind != .group {
            record.members = try store.members(of: id, after: nil, limit: 2).map(\.user.text)
        }
        return ([.conversation(record)], ExportCursor(.members, of: id))
    }

    private func next(after last: ConversationID?) throws -> ConversationID? {
        switch scope {
        case .all: try store.exportedConversation(after: last)
        case .conversation(let id), .member(_, let id): last == nil ? id : nil
        case .user(let user): try store.conversations(of: user, after: last, limit: 1).first
        }
    }

    private func messages(in conversation: Conversation, after number: Int64) throws -> Page {
        let id = conversation.id
        let page: [Message]
        let isLast: Bool
        var reached = number
        if let reader {
            let seen = try commands.page(.after(number), of: id, limit: Exporter.limit, by: reader, in: store)
            (page, isLast) = (seen.messages.map(\.message), !seen.hasLater)
            reached = seen.range?.upperBound ?? number
        } else {
            page = try store.exportedMessages(in: id, after: number, limit: Exporter.limit)
            isLast = page.count < Exporter.limit
            reached = page.last?.number ?? number
        }
        var records = try page.map { TransferRecord.message(try record(of: $0, in: conversation)) }
        if reader != nil { records = try authors(of: page) + records }
        let next =
            isLast || reached <= number ? ExportCursor(.own, of: id) : ExportCursor(.messages, of: id, number: reached)
        return (records, next)
    }

    /// Of a page that a member sees: its authors may not be in the conversation any more.
    private func authors(of page: [Message]) throws -> [TransferRecord] {
        var seen: Set<UserID> = []
        var named: [UserID] = []
        for message in page {
            named.append(message.author)
            if let author = message.forwardedFrom { named.append(author) }
            for reaction in message.reactions { named += reaction.users }
            named += message.notice?.users ?? []
            for participant in message.call?.participants ?? [] { named.append(participant.user) }
        }
        return try records(of: named.filter { seen.insert($0).inserted }.compactMap { try store.user($0) })
    }

    private func own(in conversation: Conversation, after cursor: ExportCursor) throws -> Page {
        let id = conversation.id
        var user = cursor.user
        if user == nil { user = try reader ?? store.members(of: id, after: nil, limit: 1).first?.user }
        guard let user else { return ([], ExportCursor(.conversation, of: id)) }
        let rows = try store.exportedOwnRows(of: user, in: id, after: cursor.number, limit: Exporter.limit)
        let records = rows.filter { reader == nil || !$0.isHidden }.map { row in
            var own = TransferOwn(conversation: id.text, user: user.text, message: Self.id(of: row.number, in: id))
            own.isHidden = row.isHidden
            if !row.isHidden { (own.starredAt, own.listenedAt) = (row.starredAt, row.listenedAt) }
            return TransferRecord.own(own)
        }
        if rows.count == Exporter.limit, let last = rows.last {
            return (records, ExportCursor(.own, of: id, user: user, number: last.number))
        }
        if reader == nil, let next = try store.members(of: id, after: user, limit: 1).first?.user {
            return (records, ExportCursor(.own, of: id, user: next))
        }
        return (records, ExportCursor(.conversation, of: id))
    }

    static func id(of number: Int64, in conversation: ConversationID) -> String { "\(conversation.text)/\(number)" }
}
