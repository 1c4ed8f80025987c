import Histogram
import SDP

/// What was counted and timed on one thread, to be added up.
struct MediaTally: Sendable {
    var sent: UInt64 = 0
    var resent: UInt64 = 0
    /// Every RTP packet that came, also those that carry no media of this program, and those that were repeated.
    var received: UInt64 = 0
    /// Of them, packets of padding with which a server probes a path.
    var probes: UInt64 = 0
    /// Packets that were no RTP, RTCP, DTLS or STUN of the other side's.
    var refused: UInt64 = 0
    var junk: UInt64 = 0
    var nacks: UInt64 = 0
    var pictureLosses: UInt64 = 0
    var feedback: UInt64 = 0
    var audio = StreamSummary()
    var video = StreamSummary()
    /// From the offer on, in microseconds: until DTLS is done, and until the first packet of media.
    var connected = MediaTally.times
    var firstPacket = MediaTally.times
    /// How many legs agreed on which SRTP profile.
    var profiles: [String: Int] = [:]
    var joined = 0
    var left = 0
    var errors: [String: Int] = [:]

    static var times: Histogram<UInt64> { Histogram(highestTrackableValue: 60_000_000) }

    /// Of one kind of media.
    struct StreamSummary: Sendable {
        var streams = 0
        /// Streams of which nothing came.
        var silent = 0
        /// Streams that lost something.
        var lossy = 0
        var worstLoss = 0.0
        var account = StreamAccount()
        /// From one participant to the other, in microseconds.
        var latency = MediaTally.times
        /// From being sent until the kernel had it for the other: what the server and its sockets took, and nothing of this
        /// program's own waiting.
        var residence = MediaTally.times

        mutating func add(_ account: StreamAccount) {
            streams += 1
            if account.packets == 0 { silent += 1 }
            if account.lost > 0 { lossy += 1 }
            worstLoss = max(worstLoss, account.loss)
            self.account.add(account)
        }

        mutating func add(_ other: StreamSummary) {
            streams += other.streams
            silent += other.silent
            lossy += other.lossy
            worstLoss = max(worstLoss, other.worstLoss)
            account.add(other.account)
            latency.add(other.latency)
            residence.add(other.residence)
        }
    }

    subscript(kind: MediaKind) -> StreamSummary {
        get { kind == .audio ? audio : video }
        _modify { if kind == .audio { yield &audio } else { yield &video } }
    }

    static func record(_ nanoseconds: UInt64, in times: inout Histogram<UInt64>) {
        times.record(min(nanoseconds / 1000, 60_000_000))
    }

    mutating func count(error: String) { errors[error, default: 0] += 1 }

    mutating func add(_ other: MediaTally) {
        sent += other.sent
        resent += other.resent
        received += other.received
        probes += other.probes
        refused += other.refused
        junk += other.junk
        nacks += other.nacks
        pictureLosses += other.pictureLosses
        feedback += other.feedback
        audio.add(other.audio)
        video.add(other.video)
        connected.add(other.connected)
        firstPacket.add(other.firstPacket)
        joined += other.joined
        left += other.left
        profiles.merge(other.profiles, uniquingKeysWith: +)
        errors.merge(other.errors, uniquingKeysWith: +)
    }

    /// What comes from now on is measured; errors and joins are counted from the beginning.
    mutating func measure() {
        var fresh = MediaTally()
        fresh.connected = connected
        fresh.firstPacket = firstPacket
        fresh.joined = joined
        fresh.profiles = profiles
        fresh.left = left
        fresh.errors = errors
        self = fresh
    }
}

extension StreamAccount {
    /// The share that did not come.
    var loss: Double { packets + lost > 0 ? Double(lost) / Double(packets + lost) : 0 }
}
