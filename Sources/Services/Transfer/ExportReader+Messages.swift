import Languages
import Messaging
import Model
import Storage
import Transfer
import Voice

// Messages.
extension ExportReader {
    /// A line has a bound: of more, the newest former texts and the first reactions are exported.
    private static let editBytes = 256 << 10
    private static let reactions = 5000
    /// Of a transcript with more, the text alone is exported.
    private static let segmentBytes = 256 << 10

    /// - Parameter message: as the reader sees it, if there is one.
    func record(of message: Message, in conversation: Conversation) throws -> TransferMessage {
        let id = conversation.id
        var record = TransferMessage(
            id: Self.id(of: message.number, in: id), conversation: id.text, author: message.author.text,
            sentAt: message.sentAt)
        record.kind = message.kind
        record.text = message.text
        let language = message.language.flatMap { $0.confidence == .high ? $0.code : nil }
        record.language = message.text == nil ? nil : language
        record.call = message.call.map(Self.call)
        record.voice = try message.voice.map { try voice($0, language: language?.string) }
        record.notice = message.notice.map { Self.notice($0, in: id) }
        record.replyTo = message.replyTo.map { Self.id(of: $0, in: id) }
        record.thread = message.thread.map { Self.id(of: $0, in: id) }
        record.forwardedFrom = message.forwardedFrom?.text
        record.editedAt = message.editedAt
        record.deletedAt = message.deletedAt
        record.expiresAt = message.expiresAt
        record.isWithheld = message.isWithheld && reader == nil
        record.isTextWithheld = message.isTextWithheld && reader == nil
        guard message.deletedAt == nil else { return record }
        if message.editedAt != nil { record.edits = try edits(of: message) }
        record.reactions = try reactions(to: message)
        record.isPinned = conversation.pins.contains {
            $0.number == message.number && ($0.onlyFor == nil || $0.onlyFor == reader)
        }
        return record
    }

    /// - Parameter language: what the transcriber or the author has said.
    private func voice(_ voice: VoiceRecord, language: String?) throws -> TransferVoice {
        var record = TransferVoice(durationMs: Int64(voice.audio.durationMs))
        record.file = voice.file.map { TransferVoice.fileName(of: $0) }
        record.waveform = voice.audio.waveform
        record.level = voice.audio.level
        guard let words = voice.words, !words.isEmpty else { return record }
        record.transcript = words
        record.language = language ?? voice.transcript?.language
        let segments = try voice.file.flatMap { try store.transcript(of: $0) }?.segments ?? []
        if segments.reduce(0, { $0 + $1.text.utf8.count + 64 }) <= Self.segmentBytes,
            segments.count <= TransferVoice.maxSegments
        {
            record.segments = segments
        }
        return record
    }

    private static func notice(_ notice: Notice, in conversation: ConversationID) -> TransferNotice {
        var record = TransferNotice(kind: notice.kind)
        record.users = notice.users.map(\.text)
        record.userCount = notice.userCount > notice.users.count ? notice.userCount : nil
        record.name = notice.name
        record.settings = notice.settings
        record.role = notice.role
        record.disappearAfter = notice.disappearAfter
        record.message = notice.number.map { id(of: $0, in: conversation) }
        record.via = notice.via
        record.isByServer = notice.isByServer
        return record
    }

    private static func call(_ call: CallRecord) -> TransferCall {
        var record = TransferCall(kind: call.kind)
        record.answeredAt = call.answeredAt
        record.endedAt = call.endedAt
        record.reason = call.reason
        record.endedBy = call.endedBy?.text
        record.participants = call.participants.map { TransferCall.Participant(user: $0.user.text, state: $0.state) }
        return record
    }

    private func edits(of message: Message) throws -> [TransferMessage.Edit] {
        let all =
            try reader.map {
                try commands.edits(of: message.number, in: message.conversation, by: $0, store: store)
            } ?? store.edits(of: message.number, in: message.conversation)
        var bytes = 0
        let newest = all.suffix(TransferFormat.maxEdits).reversed().prefix { edit in
            bytes += edit.text.utf8.count
            return bytes <= Self.editBytes
        }
        return newest.reversed().map { edit in
            var former = TransferMessage.Edit(text: edit.text, writtenAt: edit.writtenAt)
            former.isWithheld = edit.isWithheld && reader == nil
            return former
        }
    }

    private func reactions(to message: Message) throws -> [TransferMessage.Reaction] {
        guard reader == nil else {
            // The first of each emoji, as the message has them.
            return message.reactions.flatMap { reaction in
                reaction.users.map { TransferMessage.Reaction(user: $0.text, emoji: reaction.emoji) }
            }
        }
        return try store.exportedReactions(
            to: message.number, in: message.conversation, limit: Self.reactions
        ).map { reaction in
            var exported = TransferMessage.Reaction(user: reaction.user.text, emoji: reaction.emoji, at: reaction.at)
            exported.isWithheld = reaction.isWithheld
            return exported
        }
    }
}
