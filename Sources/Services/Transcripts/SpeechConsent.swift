package import Calls
package import Messaging
package import Model
package import Storage

/// Whether what is said in calls may be transcribed: the server, the conversation of the call and the speaker have to allow
/// it, and where the provider is a hosted one, to allow that.
package struct SpeechConsent: Sendable {
    private let commands: ConversationCommands

    package init(_ commands: ConversationCommands) { self.commands = commands }

    package func allows(_ speaker: UserID, in call: CallID, store: StoreTransaction) throws -> Bool {
        try commands.allowsTranscription(of: speaker, in: store.call(call)?.conversation, store: store)
    }

    /// Who speaks on a track; nil if they do not allow it, or the track is gone.
    package func speaker(on track: UntranscribedTrack, store: StoreTransaction) throws -> UserID? {
        guard let recording = try store.recording(track.recording),
            let speaker = recording.tracks.first(where: { $0.file == track.file })?.user,
            try allows(speaker, in: recording.call, store: store)
        else { return nil }
        return speaker
    }

    /// The transcript of a track, with the language of its words where the transcriber names none.
    func withLanguage(
        _ transcript: FileTranscript, of track: UntranscribedTrack, store: StoreTransaction
    ) throws -> FileTranscript {
        guard transcript.language == nil else { return transcript }
        let tracks = try store.recording(track.recording)?.tracks
        guard let speaker = tracks?.first(where: { $0.file == track.file })?.user else { return transcript }
        return try commands.withLanguage(transcript, by: speaker, in: store)
    }

    /// - Throws: `consent_required` if nobody who is in the call may be transcribed.
    package func check(_ call: Call, store: StoreTransaction) throws {
        let speakers = call.participants.filter { $0.endpoint != nil }.map(\.user)
        guard try !speakers.isEmpty && !speakers.contains(where: { try allows($0, in: call.id, store: store) }) else {
            return
        }
        throw Problem(
            .consentRequired,
            "Neither the server and the conversation nor anybody in the call allows that what is said is transcribed.")
    }
}
