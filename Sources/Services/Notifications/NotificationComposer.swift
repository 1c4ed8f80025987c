import Accounts
import Calls
import Languages
package import Messaging
package import Model
package import Notifications
package import Storage

/// Says what a device is to be told of a topic now: what has been read, deleted or answered meanwhile is told no more.
package struct NotificationComposer: Sendable {
    package enum Outcome: Hashable, Sendable {
        case tell(Notification)
        /// There is nothing to tell, and nothing to wait for.
        case nothing
        /// The device rings already, and still does.
        case rings
        /// It is not known yet; ask again then.
        case later(Timestamp)
        /// The user has quiet hours: there may be something to tell when they end.
        case quiet
    }

    /// Messages that are looked through for the newest one that is told.
    private static let looked = 20
    /// Of a text, which is cut where it is written.
    private static let shownUnits = 2_048
    /// After which it is looked again whether PushKit has delivered a ring.
    private static let pushKitSeconds: Int64 = 1

    private let commands: ConversationCommands

    package init(commands: ConversationCommands) { self.commands = commands }

    package func compose(_ record: PushRecord, in store: StoreTransaction) throws -> Outcome {
        guard let user = try store.user(record.registration.user), user.disabledAt == nil else { return .nothing }
        let outcome = try compose(record, for: Reader(user, record.registration.kind), in: store)
        return Self.mayWait(outcome, record) && user.quietHours?.end(at: store.now) != nil ? .quiet : outcome
    }

    private func compose(
        _ record: PushRecord, for reader: Reader, in store: StoreTransaction
    ) throws -> Outcome {
        switch record.topic {
        case .conversation(let id):
            return record.registration.kind == .apnsVoIP ? .nothing : try message(in: id, record, for: reader, store)
        case .call(let id):
            return try Self.byKind(call(id, record, for: reader, store), record, store)
        }
    }

    /// Of a ring that failed or was lost with its process nobody knows whether it rings.
    private static func hasRung(_ record: PushRecord) -> Bool { record.sent == .ring || record.attempt > 0 }

    /// Whether it waits for the end of quiet hours. What ends a ring does not: the device rings.
    private static func mayWait(_ outcome: Outcome, _ record: PushRecord) -> Bool {
        if case .later = outcome { return true }
        guard case .tell(let notification) = outcome else { return false }
        switch notification.content {
        case .message, .ring: return true
        // It replaces a ring that may have arrived.
        case .missedCall: return !hasRung(record)
        case .ringEnded: return false
        }
    }

    /// iOS ends an app that does not ring at a push of PushKit, so only a ring is one.
    private static func byKind(
        _ outcome: Outcome, _ record: PushRecord, _ store: StoreTransaction
    ) throws -> Outcome {
        guard case .tell(let notification) = outcome else { return outcome }
        var isRing = false
        if case .ring = notification.content { isRing = true }
        switch record.registration.kind {
        case .apnsVoIP: return isRing ? outcome : .nothing
        case .apns where isRing: return try beside(record, outcome, store)
        case .apns, .fcm, .web: return outcome
        }
    }

    /// A ring by PushKit has no notification beside it; one that PushKit does not deliver has.
    private static func beside(
        _ record: PushRecord, _ outcome: Outcome, _ store: StoreTransaction
    ) throws -> Outcome {
        guard let state = try store.pushState(of: record.topic, by: .apnsVoIP, beside: record.registration) else {
            return outcome
        }
        switch state {
        case .sent: return .nothing
        case .failed: return outcome
        case .waits: return .later(store.now.adding(seconds: pushKitSeconds))
        case .none:
            let latest = record.createdAt.adding(seconds: pushKitSeconds)
            return store.now < latest ? .later(latest) : outcome
        }
    }

    /// Whom it is for, and how much of it is shown.
    private struct Reader {
        let user: UserID
        let level: NotificationLevel
        let texts: NotificationTexts
        /// Whether the service can read what it forwards.
        let isHosted: Bool

        init(_ user: UserRecord, _ kind: PushKind) {
            self.user = user.id
            level = user.notifications ?? kind.defaultLevel
            texts = .inFirst(of: user.languages.compactMap { try? LanguageTag($0) })
            isHosted = kind != .web
        }
    }
}

// Messages.
extension NotificationComposer {
    private func message(
        in id: ConversationID, _ record: PushRecord, for reader: Reader, _ store: StoreTransaction
    ) throws -> Outcome {
        let found: MemberConversation
        do { found = try commands.get(id, by: reader.user, in: store) } catch let problem as Problem
            where problem.kind == .notFound
        { return .nothing }
        guard found.member.state == .member,
            let message = try newest(of: found, record, for: reader.user, store)
        else { return .nothing }
        let author = try store.user(message.author)?.displayName ?? reader.texts.somebody
        var title = reader.texts.newMessage
        var body = ""
        var photo: String?
        if reader.level != .none {
            let isGroup = found.conversation.kind == .group
            title = isGroup ? found.conversation.name ?? author : author
            let line = try self.line(message, in: found.conversation, for: reader, store)
            body = isGroup && found.conversation.name != nil ? "\(author): \(line)" : line
            if !isGroup { photo = try store.user(message.author).flatMap(Self.photo) }
        }
        return .tell(
            Notification(
                user: reader.user, content: .message(id, number: message.number), title: title, body: body,
                photo: photo, badge: try badge(of: reader.user, store)))
    }

    /// The newest message that the device is told of: unread, of somebody else whom the reader has not blocked, and in a muted
    /// conversation the newest that mentions the reader, where those are told.
    private func newest(
        of found: MemberConversation, _ record: PushRecord, for user: UserID, _ store: StoreTransaction
    ) throws -> SeenMessage? {
        let id = found.conversation.id
        guard let position = try store.readPositions(of: user, in: [id]).first else { return nil }
        let after = max(record.after, position.read, position.from)
        let blocked = try store.blockedAuthors(of: user, in: id)
        func isDue(_ message: SeenMessage) -> Bool {
            message.number > after && message.author != user && message.deletedAt == nil
                && (message.kind == .text || message.kind == .voice) && !blocked.contains(message.author)
        }
        if let mute = try store.membership(of: user, in: id).mute, mute.isActive(at: store.now) {
            guard mute.allowsMentions, let number = try store.newestMention(of: user, in: id, after: after)
            else { return nil }
            let page = try commands.page(.after(number - 1), of: id, limit: 1, by: user, in: store)
            return page.messages.first { $0.number == number && isDue($0) }
        }
        for limit in [1, Self.looked] {
            let page = try commands.page(.newest, of: id, limit: limit, by: user, in: store)
            if let message = page.messages.last(where: isDue) { return message }
        }
        return nil
    }

    /// A message that disappears leaves no text outside of the conversation. Services that read what they forward get what
    /// those of the conversation, and its author, let hosted services read.
    private func line(
        _ message: SeenMessage, in conversation: Conversation, for reader: Reader, _ store: StoreTransaction
    ) throws -> String {
        guard reader.level == .full, message.expiresAt == nil else { return reader.texts.newMessage }
        if reader.isHosted {
            var levels = MessageLevels(conversation, rules: commands.intelligence, in: store)
            guard try levels.level(of: message.message) == .full else { return reader.texts.newMessage }
        }
        guard message.kind == .text, let text = message.text else { return reader.texts.voiceMessage }
        return try TextRange.plain(text, message.ranges, limit: Self.shownUnits) { try store.user($0)?.displayName }
    }

    private func badge(of user: UserID, _ store: StoreTransaction) throws -> Int {
        try store.unreadConversations(of: user, isArchive: false).messages
    }

    private static func photo(_ user: UserRecord) -> String? {
        user.photoURL.flatMap { PhotoAddress.file(at: $0) == nil ? nil : $0 }
    }
}

// Calls.
extension NotificationComposer {
    private func call(
        _ id: CallID, _ record: PushRecord, for reader: Reader, _ store: StoreTransaction
    ) throws -> Outcome {
        guard let call = try store.call(id), let participant = call.participant(reader.user) else { return .nothing }
        let hasRung = Self.hasRung(record)
        if participant.isWithheld { return hasRung ? tell(.ringEnded(id, .cancelled), call, reader, store) : .nothing }
        switch participant.state {
        case .invited(let until), .ringing(let until):
            guard until > store.now else { return record.sent == .ring ? .rings : .nothing }
            if record.sent == .ring { return .rings }
            return tell(.ring(id, isVideo: call.kind == .video, until: until), call, reader, store)
        case .missed:
            var outcome = tell(.missedCall(id), call, reader, store)
            if case .tell(var notification) = outcome {
                notification.badge = try badge(of: reader.user, store)
                outcome = .tell(notification)
            }
            return outcome
        case .joined(let joining):
            let isHere = try isHere(joining, record.registration, store)
            return hasRung && !isHere ? tell(.ringEnded(id, .answered), call, reader, store) : .nothing
        case .declined: return hasRung ? tell(.ringEnded(id, .declined), call, reader, store) : .nothing
        case .left, .busy, .unreachable:
            return hasRung ? tell(.ringEnded(id, .cancelled), call, reader, store) : .nothing
        }
    }

    private func isHere(
        _ joining: Participant.Joining, _ registration: PushRegistration, _ store: StoreTransaction
    ) throws -> Bool {
        guard let signIn = joining.signIn else { return joining.endpoint == registration.endpoint }
        return try store.signIn(signIn)?.device == registration.device
    }

    private func tell(
        _ content: Notification.Content, _ call: Call, _ reader: Reader, _ store: StoreTransaction
    ) -> Outcome {
        let isVideo = call.kind == .video
        let texts = reader.texts
        let what =
            switch content {
            case .ring: isVideo ? texts.incomingVideoCall : texts.incomingCall
            case .missedCall: isVideo ? texts.missedVideoCall : texts.missedCall
            case .ringEnded(_, .answered): texts.answeredElsewhere
            case .ringEnded(_, .declined): texts.declinedElsewhere
            case .ringEnded, .message: texts.callEnded
            }
        guard reader.level != .none, let caller = call.participants.first else {
            return .tell(Notification(user: reader.user, content: content, title: what, body: ""))
        }
        let photo = caller.photoURL.flatMap { PhotoAddress.file(at: $0) == nil ? nil : $0 }
        return .tell(
            Notification(
                user: reader.user, content: content, title: caller.displayName, body: what, photo: photo))
    }
}
