import RTP
import SDP
import Wire

/// The media of one participant's PeerConnection.
struct Leg: ~Copyable {
    /// SSRCs that a client may use: five tracks in three encodings with repairs are 30.
    static let maximumStreams = 64
    static let reportNanoseconds: UInt64 = 1_000_000_000
    /// How often transport-wide feedback is sent: with video often, since the publisher's bandwidth estimate depends on
    /// it. For audio alone, feedback costs as much as a packet, and browsers send it as rarely.
    static let videoFeedbackNanoseconds: UInt64 = 50_000_000
    static let audioFeedbackNanoseconds: UInt64 = 250_000_000
    static let maxRepairsPerDatagram = 1_000
    static let videoChangeNanoseconds: UInt64 = 1_000_000_000

    let id: LegID
    private(set) var isOpen = true
    /// The index of its call.
    let call: Int
    let participant: String
    /// The source of the gateway's own reports.
    let ssrc: UInt32
    var payloads: PayloadTable
    var extensions: HeaderExtensionIDs
    var streams: [UInt32: StreamIndex] = [:]
    /// The indices of its own tracks.
    var tracks: [Int] = []
    var slots: [Slot] = []
    /// Slots of sections in which nothing is sent for now: they keep their SSRC, and so must keep their numbers.
    var parkedSlots: [Slot] = []
    /// There are more tracks than slots.
    var lacksAudioSlots = false
    var lacksVideoSlots = false
    var loudest = TopNSelector()
    var nextVideoChange = Instant(nanoseconds: 0)
    /// The slots changed since the last notification.
    var needsSlotUpdate = false
    var slotUpdates = NotificationBudget()
    var arrivals = ArrivalLog()
    /// How much the client can send; nil if it estimates that itself from transport-wide feedback, or does not support
    /// REMB.
    var received: ReceiveBandwidthEstimate?
    /// The next transport-wide sequence number to it.
    var transportSequence: UInt16 = 0
    /// Nil for a leg without video slots.
    var bandwidth: LegBandwidth?
    var clock = PublisherClock()
    /// The round trip time to the client, smoothed, in nanoseconds: from its reports, and from how long its
    /// retransmissions took. Nil before the first of either.
    private(set) var roundTrip: UInt64?
    var nextReport: Instant
    /// One of its slots needs a report.
    var needsReports = false
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

    /// Releases its memory. Its index will be reused.
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

    /// Applies a renegotiation.
    mutating func adopt(_ negotiated: NegotiatedLeg) {
        payloads = PayloadTable(negotiated.sections)
        extensions = HeaderExtensionIDs(negotiated)
        received = negotiated.wantsBandwidthReports ? received ?? ReceiveBandwidthEstimate() : nil
    }

    /// The slots changed.
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

    mutating func recordRoundTrip(_ sample: UInt64) {
        let sample = min(sample, 10_000_000_000)
        roundTrip = roundTrip.map { ($0 &* 7 &+ sample) / 8 } ?? sample
    }

    func slot(sending ssrc: UInt32) -> Int? {
        slots.firstIndex { $0.identity.ssrc == ssrc }
    }
}

extension NegotiatedLeg {
    /// It publishes video with REMB, and its packets have send times. SDP negotiates REMB only without transport-wide
    /// feedback.
    fileprivate var wantsBandwidthReports: Bool {
        sections.contains { section in
            section.kind == .video && section.rejection == nil && section.direction.receives
                && section.extensions.contains { $0.uri == HeaderExtension.absoluteSendTime.uri }
                && section.codecs.contains { $0.feedback.contains(.receiverEstimatedBitrate) }
        }
    }
}

extension HeaderExtensionIDs {
    /// The ids are the same in every section of a bundle.
    init(_ leg: NegotiatedLeg) {
        self.init(allowsTwoByte: leg.allowsMixedExtensions)
        for section in leg.sections {
            for item in section.extensions {
                if let kind = HeaderExtension(uri: item.uri) { self[kind] = item.id }
            }
        }
    }
}
