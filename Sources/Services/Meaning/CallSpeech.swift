internal import Calls
import Languages
import Messaging
import Model
import Storage

/// What was said in a call, as far as its recordings were transcribed and the reader was there.
struct CallSpeech: Sendable {
    /// Things that were said, the latest, of one summary.
    static let maxCount = 1_000
    /// Of which vectors are made.
    static let maxEmbedded = 256

    /// Of the message of the call.
    private let number: Int64
    private let segments: [(speaker: UserID, at: Timestamp, text: String)]
    /// Of each segment.
    private let moments: [MessageSummary.Item.Moment]

    /// - Throws: `not_found` of a call that is not of this conversation.
    init(of id: CallID, in conversation: ConversationID, by user: UserID, _ store: StoreTransaction) throws {
        guard let call = try store.call(id), call.conversation == conversation, let caller = call.caller,
            let clientID = ClientID(id.text), let message = try store.message(sentWith: clientID, by: caller)?.message,
            message.conversation == conversation
        else { throw Problem.notFound("call", field: "call") }
        number = message.number
        var spoken: [(moment: MessageSummary.Item.Moment, speaker: UserID, at: Timestamp, text: String)] = []
        for recording in try store.recordings(of: id)
        where try recording.status != .ongoing && store.isAdmitted(user, to: recording.id) {
            let transcripts = try store.transcripts(of: recording.tracks.map(\.file))
            for segment in RecordingTranscript(of: recording, transcripts)?.segments ?? [] {
                spoken.append(
                    (
                        MessageSummary.Item.Moment(recording: recording.id, start: segment.start), segment.user,
                        recording.startedAt.adding(milliseconds: segment.start), segment.text
                    ))
            }
        }
        spoken.sort { $0.at < $1.at }
        spoken.removeFirst(max(0, spoken.count - Self.maxCount))
        moments = spoken.map(\.moment)
        segments = spoken.map { ($0.speaker, $0.at, $0.text) }
    }

    func summarised(
        in id: ConversationID, by user: UserID, _ commands: ConversationCommands, _ store: StoreTransaction
    ) throws -> SummarisedMessages {
        try commands.summarised(segments, ofCall: number, in: id, by: user, store: store)
    }

    /// Items rest on the call's message, and say where in the recording it was said.
    func shown(_ summary: MessageSummary) -> MessageSummary {
        var shown = summary
        shown.range = number...number
        shown.items = summary.items.map { item in
            var item = item
            if let first = item.messages.first, first >= 1, Int(first) <= moments.count {
                item.said = moments[Int(first) - 1]
            }
            item.messages = [number]
            return item
        }
        return shown
    }
}
