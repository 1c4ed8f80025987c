import Histogram
import SDP

/// The counters and timings of one thread, to be added up.
struct MediaCounters: Sendable {
    var sent: UInt64 = 0
    var resent: UInt64 = 0
    /// All received RTP packets, including those without media of this program, and duplicates.
    var received: UInt64 = 0
    /// Of them, padding packets with which a server probes the path.
    var probes: UInt64 = 0
    /// Packets that were not valid RTP, RTCP, DTLS or STUN of the server.
    var refused: UInt64 = 0
    var junk: UInt64 = 0
    var nacks: UInt64 = 0
    var pictureLosses: UInt64 = 0
    var feedback: UInt64 = 0
    var audio = StreamSummary()
    var video = StreamSummary()
    /// Microseconds from the offer until DTLS is established, and until the first media packet.
    var connected = MediaCounters.times
    var firstPacket = MediaCounters.times
    /// The number of legs by SRTP profile.
    var profiles: [String: Int] = [:]
    var joined = 0
    var left = 0
    var errors: [String: Int] = [:]

    static var times: Histogram<UInt64> { Histogram(highestTrackableValue: 60_000_000) }

    /// The counters of one kind of media.
    struct StreamSummary: Sendable {
        var streams = 0
        /// Streams without a packet.
        var silent = 0
        /// Streams with loss.
        var lossy = 0
        var worstLoss = 0.0
        var account = StreamAccount()
        /// From one participant to another, in microseconds.
        var latency = MediaCounters.times
        /// From sending to receiving in the kernel: the time in the server and its sockets, without this program's own
        /// delay.
        var residence = MediaCounters.times

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

    mutating func add(_ other: MediaCounters) {
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

    /// Starts the measurement. Errors and joins are counted from the beginning.
    mutating func measure() {
        var fresh = MediaCounters()
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
    /// The share of lost packets.
    var loss: Double { packets + lost > 0 ? Double(lost) / Double(packets + lost) : 0 }
}
