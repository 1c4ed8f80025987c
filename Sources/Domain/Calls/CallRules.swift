package import Model

/// The timeouts and limits of calls.
package struct CallRules: Hashable, Sendable {
    /// Default ring time in seconds.
    package var ringSeconds: Int64 = 60
    package var ringSecondsAllowed: ClosedRange<Int64> = 10...120
    /// Seconds from an accept to the report that media flows, in a call between two people.
    package var setupSeconds: Int64 = 20
    /// The same through the gateway. Nobody is kept waiting by a participant who cannot connect there; its client tries
    /// one leg after the other, so this allows three attempts.
    package var legSetupSeconds: Int64 { setupSeconds &* 3 }
    /// Seconds that a group call without joined participants stays alive while somebody still rings.
    package var emptySeconds: Int64 = 20
    /// Seconds after which an unanswered offer no longer blocks other offers.
    package var offerSeconds: Int64 = 10
    /// The epoch of the media gateway; absent if there is none. Without a gateway calls are direct, and between two
    /// people unless their creator requests a full mesh.
    package var gatewayEpoch: Int64?
    /// Maximum length of a recording in seconds.
    package var recordingSeconds: Int64 = 4 * 3600
    /// Recordings count against the quota of who started them, mixes of who requested them.
    package var quota = MediaQuota()
    /// A transcription provider is configured.
    package var hasTranscription = false
    /// Members of a group whom a call in it rings, with the caller; in a larger one it rings nobody and shows.
    package var ringingMembers = 32
    /// Participants in one call, including the caller.
    package var participantLimit = 50
    /// Bytes of one session description.
    package var descriptionLimit = 256 * 1024
    /// Candidates in one batch.
    package var batchLimit = 64
    /// Candidates that are held per endpoint until their offer, or a recipient, is known.
    package var heldLimit = 64
    /// Bytes of one candidate line, which RFC 8839 does not bound; real ones have 60 to 250.
    package var candidateLimit = 2048

    package init() {}
}
