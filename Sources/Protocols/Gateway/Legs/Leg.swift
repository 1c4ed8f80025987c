import RTP
import SDP
import Wire

/// One participant's PeerConnection, as far as media goes.
struct Leg: ~Copyable {
    /// SSRCs that a client may send with: five tracks in three encodings with repairs are 30.
    static let maximumStreams = 64
    static let reportNanoseconds: UInt64 = 1_000_000_000
    static let feedbackNanoseconds: UInt64 = 50_000_000

    let id: LegID
    private(set) var isOpen = true
    let call: String
    let participant: String
    /// The source of the gateway's own reports.
    let ssrc: UInt32
    var payloads: PayloadTable
    var extensions: HeaderExtensionIDs
    var streams: [UInt32: StreamPlace] = [:]
    /// Its own tracks, by their places.
    var tracks: [Int] = []
    var slots: [Slot] = []
    var arrivals = ArrivalLog()
    /// The next transport-wide number of what is sent to it.
    var transportSequence: UInt16 = 0
    var clock = PublisherClock()
    var nextReport: Instant
    var nextFeedback: Instant

    init(
        _ id: LegID, call: String, participant: String, ssrc: UInt32, _ negotiated: NegotiatedLeg, at now: Instant
    ) {
        self.id = id
        self.call = call
        self.participant = participant
        self.ssrc = ssrc
        payloads = PayloadTable(negotiated.sections)
        extensions = HeaderExtensionIDs(negotiated)
        nextReport = now.adding(nanoseconds: Self.reportNanoseconds)
        nextFeedback = now.adding(nanoseconds: Self.feedbackNanoseconds)
    }

    /// Gives back what it holds. Its place waits for another one.
    mutating func close() {
        isOpen = false
        streams = [:]
        tracks = []
        slots = []
        arrivals = ArrivalLog()
    }

    func slot(sending ssrc: UInt32) -> Int? {
        slots.firstIndex { $0.identity.ssrc == ssrc }
    }
}

extension HeaderExtensionIDs {
    /// The numbers mean the same in every section of a bundle.
    init(_ leg: NegotiatedLeg) {
        self.init(allowsTwoByte: leg.allowsMixedExtensions)
        for section in leg.sections {
            for item in section.extensions {
                if let kind = HeaderExtension(uri: item.uri) { self[kind] = item.id }
            }
        }
    }
}
