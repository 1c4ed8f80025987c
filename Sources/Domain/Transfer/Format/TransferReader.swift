import Accounts
import Languages
import Messaging
import Model
import Notifications

/// Reads the lines of a file.
package enum TransferReader {
    /// A record and where it comes from.
    package struct Line: Hashable, Sendable {
        /// Nil: that of the whole file.
        package var source: String?
        package var record: TransferRecord
    }

    /// Reads one line, without its end.
    ///
    /// - Throws: `invalid_request` that names the member and what is allowed.
    package static func read(_ line: [UInt8]) throws -> Line {
        guard line.count <= TransferFormat.maxLine else {
            throw Problem(.invalidRequest, "A line has at most \(TransferFormat.maxLine) bytes.")
        }
        var reader = try RecordReader(JSONParser.parse(line))
        let type = try reader.text("type")
        let source = try reader.optionalText("source").map { try TransferFormat.source($0) }
        let record: TransferRecord
        switch type {
        case "user": record = .user(try user(&reader))
        case "conversation": record = .conversation(try conversation(&reader))
        case "message": record = .message(try message(&reader))
        case "member": record = .member(try member(&reader))
        case "own": record = .own(try own(&reader))
        default:
            throw Problem.invalid(
                "type", "type is one of user, conversation, message, member, own: not \(type.prefix(64)).")
        }
        try reader.end("A \(type)")
        return Line(source: source, record: record)
    }

    private static func user(_ reader: inout RecordReader) throws -> TransferUser {
        var user = TransferUser(
            id: try reader.id("id"), name: try AccountRules.displayName(reader.text("name"), field: "name"))
        user.ext = try reader.optionalText("ext").map { ext in
            guard case .external(ext) = try UserReference("ext:" + ext, field: "ext") else {
                throw Problem.invalid("ext", "ext is your own id, without ext: before it.")
            }
            return ext
        }
        user.email = try reader.optionalText("email").map { try AccountRules.email($0) }
        user.languages = try AccountRules.languages(reader.texts("languages", most: 16))
        user.createdAt = try reader.optionalTime("createdAt")
        user.passwordHash = try reader.optionalText("passwordHash").map { try OutsideHash.check($0) }
        if user.passwordHash != nil, user.email == nil {
            throw Problem.invalid(
                "passwordHash", "A password is for signing in with an e-mail address: email is missing.")
        }
        user.notifications = try reader.optionalChoice("notifications")
        user.quietHours = try quietHours(&reader)
        user.pushes = try reader.objects("pushes", most: TransferFormat.maxPushes).map { item in
            var item = item
            let push = TransferUser.Push(
                device: try item.id("device"), kind: try item.choice("kind"), createdAt: try item.time("createdAt"),
                updatedAt: try item.time("updatedAt"), isShared: try item.bool("shared"))
            try item.end("A push registration")
            return push
        }
        return user
    }

    private static func quietHours(_ reader: inout RecordReader) throws -> QuietHours? {
        guard var object = try reader.object("quietHours") else { return nil }
        let (from, to, zone) = (try object.text("from"), try object.text("to"), try object.text("zone"))
        try object.end("quietHours")
        do throws(QuietHours.Fault) {
            return try QuietHours(from: from, to: to, zone: zone)
        } catch {
            let field = object.field(error.member.rawValue)
            throw Problem.invalid(field, "\(field) \(error.rule).")
        }
    }

    private static func conversation(_ reader: inout RecordReader) throws -> TransferConversation {
        var conversation = TransferConversation(id: try reader.id("id"), kind: try reader.choice("kind"))
        conversation.name = try reader.optionalText("name").map { try AccountRules.displayName($0, field: "name") }
        conversation.createdAt = try reader.optionalTime("createdAt")
        conversation.members = try reader.ids("members", most: 2)
        conversation.disappearAfter = try reader.optionalInteger("disappearAfter")
        try Disappearing.check(conversation.disappearAfter)
        if let settings = try settings(&reader) { conversation.settings = settings }
        let expected =
            switch conversation.kind {
            case .direct: 2
            case .ownNotes: 1
            case .group: 0
            }
        guard Set(conversation.members).count == expected, conversation.members.count == expected else {
            throw Problem.invalid(
                "members",
                "members are the two of a direct conversation, or the one of notes; those of a group have lines of type "
                    + "member.")
        }
        guard conversation.kind == .group || conversation.name == nil else {
            throw Problem.invalid("name", "Only a group has a name.")
        }
        return conversation
    }

    static func settings(_ reader: inout RecordReader) throws -> ConversationSettings? {
        guard var object = try reader.object("settings") else { return nil }
        var settings = ConversationSettings(
            write: try object.choice("write", default: .members), add: try object.choice("add", default: .members),
            rename: try object.choice("rename", default: .members),
            keepDays: Int(clamping: try object.optionalInteger("keepDays") ?? 0))
        settings.intelligence = try object.optionalChoice("intelligence")
        try MessageRetention.check(settings.keepDays)
        try object.end("settings")
        return settings
    }

    private static func language(
        _ reader: inout RecordReader, of message: TransferMessage
    ) throws -> LanguageTag? {
        guard let tag = try reader.optionalText("language") else { return nil }
        guard let language = try LanguageTag(tag).ofText else {
            throw Problem.invalid("language", "The language of a text has a code of two or three letters, such as en.")
        }
        guard message.text != nil else { throw Problem.invalid("language", "Only a text has a language.") }
        return language
    }

    private static func message(_ reader: inout RecordReader) throws -> TransferMessage {
        var message = TransferMessage(
            id: try reader.id("id"), conversation: try reader.id("conversation"), author: try reader.id("author"),
            sentAt: try reader.time("sentAt"))
        message.kind = try reader.choice("kind", default: .text)
        message.deletedAt = try reader.optionalTime("deletedAt")
        message.expiresAt = try reader.optionalTime("expiresAt")
        message.text = try reader.optionalText("text").map { try MessageText($0).text }
        message.language = try language(&reader, of: message)
        message.replyTo = try reader.optionalID("replyTo")
        message.thread = try reader.optionalID("thread")
        message.forwardedFrom = try reader.optionalID("forwardedFrom")
        message.editedAt = try reader.optionalTime("editedAt")
        message.isPinned = try reader.bool("pinned")
        message.isWithheld = try reader.bool("withheld")
        message.isTextWithheld = try reader.bool("textWithheld")
        for (index, var edit) in try reader.objects("edits", most: TransferFormat.maxEdits).enumerated() {
            message.edits.append(
                TransferMessage.Edit(
                    text: try MessageText(edit.text("text"), field: "edits[\(index)].text").text,
                    writtenAt: try edit.time("writtenAt"), isWithheld: try edit.bool("withheld")))
            try edit.end("An edit")
        }
        message.reactions = try reactions(&reader)
        message.call = try call(&reader)
        message.voice = try voice(&reader)
        message.notice = try notice(&reader)
        if message.deletedAt != nil {
            guard message.text == nil, message.call == nil, message.voice == nil, message.notice == nil,
                message.edits.isEmpty,
                message.reactions.isEmpty,
                !message.isPinned
            else {
                throw Problem.invalid(
                    "deletedAt",
                    "A deleted message has neither text nor a call, a voice message, edits, reactions and pins.")
            }
        } else if message.kind == .voice {
            guard message.voice != nil, message.call == nil, message.text == nil, message.edits.isEmpty,
                message.forwardedFrom == nil
            else { throw Problem.invalid("voice", "A message of kind voice has voice, and neither text nor edits.") }
        } else if message.voice != nil {
            throw Problem.invalid("voice", "Only a message of kind voice has voice.")
        } else if message.kind == .call {
            guard message.call != nil, message.text == nil, message.edits.isEmpty, message.forwardedFrom == nil else {
                throw Problem.invalid("call", "A message of kind call has a call, and neither text nor edits.")
            }
        } else if message.kind == .notice {
            try checkNotice(message)
        } else if message.notice != nil {
            throw Problem.invalid("notice", "Only a message of kind notice has a notice.")
        } else if message.call != nil {
            throw Problem.invalid("call", "Only a message of kind call has a call.")
        } else if message.text == nil {
            throw Problem.invalid("text", "text is missing: only a message with deletedAt has none.")
        }
        return message
    }

    private static func call(_ reader: inout RecordReader) throws -> TransferCall? {
        guard var object = try reader.object("call") else { return nil }
        var call = TransferCall(kind: try word("kind", of: CallRecord.kinds, &object))
        call.answeredAt = try object.optionalTime("answeredAt")
        call.endedAt = try object.optionalTime("endedAt")
        if object.has("reason") { call.reason = try word("reason", of: CallRecord.reasons, &object) }
        call.endedBy = try object.optionalID("endedBy")
        for var one in try object.objects("participants", most: TransferCall.maxParticipants) {
            call.participants.append(
                TransferCall.Participant(
                    user: try one.id("user"), state: try word("state", of: CallRecord.participantStates, &one)))
            try one.end("A participant")
        }
        try object.end("A call")
        return call
    }

    private static func word(
        _ name: String, of allowed: [String], _ reader: inout RecordReader
    ) throws -> String {
        let text = try reader.text(name)
        guard allowed.contains(text) else {
            throw Problem.invalid(
                reader.field(name), "\(reader.field(name)) is one of \(allowed.joined(separator: ", ")).")
        }
        return text
    }

    private static func reactions(_ reader: inout RecordReader) throws -> [TransferMessage.Reaction] {
        var seen: Set<[String]> = []
        var emoji: Set<String> = []
        let most = ConversationLimits().reactionKinds
        return try reader.objects("reactions", most: TransferFormat.maxReactions).enumerated().map { index, item in
            var item = item
            let field = "reactions[\(index)]"
            let reaction = TransferMessage.Reaction(
                user: try item.id("user"), emoji: try ReactionEmoji(item.text("emoji"), field: "\(field).emoji").text,
                at: try item.optionalTime("at"), isWithheld: try item.bool("withheld"))
            try item.end("A reaction")
            guard seen.insert([reaction.user, reaction.emoji]).inserted else {
                throw Problem.invalid(field, "\(field) is there twice: the same user and emoji.")
            }
            emoji.insert(reaction.emoji)
            guard emoji.count <= most else {
                throw Problem.invalid("reactions", "A message has reactions of at most \(most) emoji.")
            }
            return reaction
        }
    }

    private static func member(_ reader: inout RecordReader) throws -> TransferMember {
        var member = TransferMember(conversation: try reader.id("conversation"), user: try reader.id("user"))
        member.role = try reader.choice("role", default: .member)
        member.state = try reader.choice("state", default: .member)
        member.joinedAt = try reader.optionalTime("joinedAt")
        if reader.has("spans") {
            member.spans = try reader.objects("spans", most: TransferFormat.maxSpans).map { item in
                var item = item
                let span = TransferMember.Span(after: try item.optionalID("after"), until: try item.optionalID("until"))
                try item.end("A span")
                return span
            }
        }
        member.read = try reader.optionalID("read")
        member.isUnread = try reader.bool("unread")
        guard member.read == nil || !member.isUnread else {
            throw Problem.invalid("unread", "read names the last message that was read, and unread says that none was.")
        }
        return member
    }

    private static func own(_ reader: inout RecordReader) throws -> TransferOwn {
        var own = TransferOwn(
            conversation: try reader.id("conversation"), user: try reader.id("user"), message: try reader.id("message"))
        own.starredAt = try reader.optionalTime("starredAt")
        own.listenedAt = try reader.optionalTime("listenedAt")
        own.isHidden = try reader.bool("hidden")
        guard own.isHidden != (own.starredAt != nil || own.listenedAt != nil) else {
            throw Problem.invalid(
                "hidden", "A line of type own has starredAt and listenedAt or one of them, or hidden: true.")
        }
        return own
    }
}
