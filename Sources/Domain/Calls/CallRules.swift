package import Model

/// The times and bounds that calls live by, in one place.
package struct CallRules: Hashable, Sendable {
    /// Seconds that a call rings when its creator does not say.
    package var ringSeconds: Int64 = 60
    package var ringSecondsAllowed: ClosedRange<Int64> = 10...120
    /// Seconds from an accept to the report that media flows, between two people.
    package var setupSeconds: Int64 = 20
    /// The same through the gateway. Nobody waits for the one who cannot connect there, whose client makes one leg after
    /// the other: three tries' time.
    package var legSetupSeconds: Int64 { setupSeconds &* 3 }
    /// Seconds that a group call without anybody in it waits for those who still ring.
    package var emptySeconds: Int64 = 20
    /// Seconds after which an unanswered offer no longer stands in the way of others.
    package var offerSeconds: Int64 = 10
    /// The life of the media gateway; absent where there is none: then calls are direct, and between two unless their maker says that
    /// clients connect each to each.
    package var gatewayEpoch: Int64?
    /// Seconds after which a recording ends by itself.
    package var recordingSeconds: Int64 = 4 * 3600
    /// Recordings count for who began them, mixes for who asked for them.
    package var quota = MediaQuota()
    /// Somebody can write down what is said.
    package var hasTranscription = false
    /// People in one call, the caller included.
    package var participantLimit = 50
    /// Bytes of one session description.
    package var descriptionLimit = 256 * 1024
    /// Candidates in one batch.
    package var batchLimit = 64
    /// Candidates that are kept from one endpoint before there is an offer, or somebody, they can go to.
    package var heldLimit = 64
    /// Bytes of one candidate line, which RFC 8839 does not bound; real ones have 60 to 250.
    package var candidateLimit = 2048

    package init() {}
}
