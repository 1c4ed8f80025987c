import Accounts
import Messaging
import Model
import Notifications
import Storage
import Transfer

// Users and members.
extension ExportReader {
    /// The operator gets what an account is made of; a member, what others see; and whose data it is, their own settings for
    /// notifications and which devices are pushed to. The line of a user is the same wherever it comes.
    func records(of users: [UserRecord]) throws -> [TransferRecord] {
        let subjects =
            reader == nil ? try store.outsideSubjects(of: users.map(\.id), issuer: UserReference.issuer) : [:]
        return try users.map { user in
            var record = TransferUser(id: user.id.text, name: user.displayName)
            guard user.deletedAt == nil else { return .user(record) }
            if reader == nil || scope == .user(user.id) {
                (record.notifications, record.quietHours) = (user.notifications, user.quietHours)
            }
            if scope == .user(user.id) { record.pushes = try pushes(of: user.id) }
            guard reader == nil else { return .user(record) }
            record.ext = subjects[user.id]
            record.email = user.email
            record.languages = user.languages
            record.createdAt = user.createdAt
            // Who is disabled here signs in nowhere with it.
            if user.email != nil, user.disabledAt == nil { record.passwordHash = user.passwordHash }
            return .user(record)
        }
    }

    private func pushes(of user: UserID) throws -> [TransferUser.Push] {
        try store.pushRegistrations(of: user).map { registration in
            TransferUser.Push(
                device: registration.device.text, kind: registration.kind, createdAt: registration.createdAt,
                updatedAt: registration.updatedAt, isShared: registration.isShared)
        }
    }

    func members(of conversation: Conversation, after last: UserID?) throws -> Page {
        let id = conversation.id
        let next = ExportCursor(.messages, of: id)
        if let reader, let own = try store.member(reader, of: id), own.state != .member {
            // Who has left, or is asked, does not see the others.
            return (try people([own]) + [.member(try record(of: own, in: conversation))], next)
        }
        let page = try store.members(of: id, after: last, limit: Exporter.limit)
        let shown = page.filter { member in
            guard reader != nil else { return member.state != .invited || conversation.kind == .direct }
            return member.state == .member
        }
        var records: [TransferRecord] = []
        if case .all = scope {} else { records = try people(page) }
        records += try shown.map { .member(try record(of: $0, in: conversation)) }
        guard page.count == Exporter.limit, let last = page.last?.user else { return (records, next) }
        return (records, ExportCursor(.members, of: id, user: last))
    }

    private func people(_ members: [Member]) throws -> [TransferRecord] {
        try records(of: members.compactMap { try store.user($0.user) })
    }

    private func record(of member: Member, in conversation: Conversation) throws -> TransferMember {
        let id = conversation.id
        var record = TransferMember(conversation: id.text, user: member.user.text)
        record.role = member.state == .member ? member.role : .member
        record.state = member.state
        record.joinedAt = member.joinedAt
        // Spans and marks name messages, which a member need not see.
        guard reader == nil else { return record }
        let spans = try store.spans(of: member.user, in: id).spans
        if member.state != .member || spans != [MembershipSpans.Span(from: 0)] {
            record.spans = spans.map { span in
                TransferMember.Span(
                    after: span.from > 0 ? Self.id(of: span.from, in: id) : nil,
                    until: span.until.map { Self.id(of: $0, in: id) })
            }
        }
        let read = try store.marks(of: member.user, in: id)?.marks.read ?? 0
        if read > 0 {
            record.read = Self.id(of: min(read, conversation.lastNumber), in: id)
        } else if conversation.lastNumber > 0 {
            record.isUnread = true
        }
        return record
    }
}
