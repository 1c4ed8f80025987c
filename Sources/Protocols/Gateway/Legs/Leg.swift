import RTP
import SDP
import Wire

/// One participant's PeerConnection, as far as media goes.
struct Leg: ~Copyable {
    /// SSRCs that a client may send with: five tracks in three encodings with repairs are 30.
    static let maximumStreams = 64
    static let reportNanoseconds: UInt64 = 1_000_000_000
    /// How often what arrived is told: with video often, since a publisher's estimate of its bandwidth follows from it. For
    /// sound alone a feedback costs as much as a packet, and browsers tell as seldom.
    static let videoFeedbackNanoseconds: UInt64 = 50_000_000
    static let audioFeedbackNanoseconds: UInt64 = 250_000_000
    static let repairsAskedAtOnce = 1_000
    static let videoChangeNanoseconds: UInt64 = 1_000_000_000

    let id: LegID
    private(set) var isOpen = true
    /// The place of its call in the engine's table.
    let call: Int
    let participant: String
    /// The source of the gateway's own reports.
    let ssrc: UInt32
    var payloads: PayloadTable
    var extensions: HeaderExtensionIDs
    var streams: [UInt32: StreamPlace] = [:]
    /// Its own tracks, by their places.
    var tracks: [Int] = []
    var slots: [Slot] = []
    /// Those of sections in which nothing is sent for now: they keep their SSRC, and so must keep their numbers.
    var parkedSlots: [Slot] = []
    /// There are more tracks than slots for them.
    var lacksAudioSlots = false
    var lacksVideoSlots = false
    var loudest = LoudestSelection()
    var nextVideoChange = Instant(nanoseconds: 0)
    /// What the slots show has changed since the client was told.
    var isUntold = false
    var tellings = TellBudget()
    var arrivals = ArrivalLog()
    /// What the client can send; nil where it finds that out by itself, from transport-wide feedback, or cannot be told.
    var received: ReceiveBandwidthEstimate?
    /// The next transport-wide number of what is sent to it.
    var transportSequence: UInt16 = 0
    /// Nil for a leg without slots for video.
    var bandwidth: LegBandwidth?
    var clock = PublisherClock()
    /// To the client and back, smoothed, in nanoseconds: from its reports, and from how long its repairs took. Nil before
    /// the first of either.
    private(set) var roundTrip: UInt64?
    var nextReport: Instant
    /// A slot of it does.
    var owesReports = false
    var nextFeedback: Instant

    init(
        _ id: LegID, call: Int, participant: String, ssrc: UInt32, _ negotiated: NegotiatedLeg, at now: Instant
    ) {
        self.id = id
        self.call = call
        self.participant = participant
        self.ssrc = ssrc
        payloads = PayloadTable(negotiated.sections)
        extensions = HeaderExtensionIDs(negotiated)
        received = negotiated.wantsBandwidthReports ? ReceiveBandwidthEstimate() : nil
        nextReport = now.adding(nanoseconds: Self.reportNanoseconds)
        nextFeedback = now.adding(nanoseconds: Self.videoFeedbackNanoseconds)
    }

    /// Gives back what it holds. Its place waits for another one.
    mutating func close() {
        isOpen = false
        streams = [:]
        tracks = []
        slots = []
        parkedSlots = []
        bandwidth = nil
        arrivals = ArrivalLog()
        received = nil
    }

    /// A later offer was answered.
    mutating func adopt(_ negotiated: NegotiatedLeg) {
        payloads = PayloadTable(negotiated.sections)
        extensions = HeaderExtensionIDs(negotiated)
        received = negotiated.wantsBandwidthReports ? received ?? ReceiveBandwidthEstimate() : nil
    }

    /// The slots are others than before.
    mutating func adoptBandwidth() {
        guard slots.contains(where: { $0.kind == .video }) else {
            bandwidth = nil
            return
        }
        let bandwidth = bandwidth ?? LegBandwidth()
        bandwidth.selection = LayerSelection()
        bandwidth.nextSelection = Instant(nanoseconds: 0)
        self.bandwidth = bandwidth
    }

    mutating func noteRoundTrip(_ sample: UInt64) {
        let sample = min(sample, 10_000_000_000)
        roundTrip = roundTrip.map { ($0 &* 7 &+ sample) / 8 } ?? sample
    }

    func slot(sending ssrc: UInt32) -> Int? {
        slots.firstIndex { $0.identity.ssrc == ssrc }
    }
}

extension NegotiatedLeg {
    /// It publishes video under REMB, and its packets say when they left. SDP agrees on REMB only where there is no
    /// transport-wide feedback.
    fileprivate var wantsBandwidthReports: Bool {
        sections.contains { section in
            section.kind == .video && section.rejection == nil && section.direction.receives
                && section.extensions.contains { $0.uri == HeaderExtension.absoluteSendTime.uri }
                && section.codecs.contains { $0.feedback.contains(.receiverEstimatedBitrate) }
        }
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
