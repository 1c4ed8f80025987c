/// The quality of the media that one endpoint received during one interval.
package struct QualityReport: Hashable, Sendable, Decodable {
    /// Fraction of packets lost, 0 to 1.
    package var loss: Double
    /// Interarrival jitter (RFC 3550 section 6.4.1) in milliseconds.
    package var jitter: Double
    /// Milliseconds.
    package var roundTrip: Double
    /// Whether the media was relayed.
    package var relayed: Bool
    /// Bytes in the interval.
    package var sent: Int64?
    package var received: Int64?
    /// The length of the interval; 1 if absent.
    package var seconds: Double?

    package init(
        loss: Double, jitter: Double, roundTrip: Double, relayed: Bool, sent: Int64? = nil, received: Int64? = nil,
        seconds: Double? = nil
    ) {
        self.loss = loss
        self.jitter = jitter
        self.roundTrip = roundTrip
        self.relayed = relayed
        self.sent = sent
        self.received = received
        self.seconds = seconds
    }
}

/// The summary of all reports of one participant: means weighted by the lengths of the intervals.
package struct QualitySummary: Hashable, Sendable {
    package var loss: Double
    package var jitter: Double
    package var roundTrip: Double
    /// Whether media was relayed at the last report.
    package var relayed: Bool
    package var seconds: Double

    package init(loss: Double, jitter: Double, roundTrip: Double, relayed: Bool, seconds: Double) {
        self.loss = loss
        self.jitter = jitter
        self.roundTrip = roundTrip
        self.relayed = relayed
        self.seconds = seconds
    }

    package init(_ report: QualityReport) {
        self.init(
            loss: report.loss, jitter: report.jitter, roundTrip: report.roundTrip, relayed: report.relayed,
            seconds: report.seconds ?? 1)
    }

    /// Adds a later report.
    package mutating func add(_ report: QualityReport) {
        let length = report.seconds ?? 1
        let share = length / (seconds + length)
        loss += (report.loss - loss) * share
        jitter += (report.jitter - jitter) * share
        roundTrip += (report.roundTrip - roundTrip) * share
        relayed = report.relayed
        seconds += length
    }

    package var opinionScore: Double { OpinionScore.estimate(loss: loss, jitter: jitter, roundTrip: roundTrip) }
}

/// An estimate of how a listener would rate a call, from 1 (bad) to 4.5 (as good as narrowband telephony gets).
///
/// The E-model of ITU-T G.107, reduced to what a receiver can measure as Cole and Rosenbluth did ("Voice over IP
/// performance monitoring", ACM SIGCOMM CCR 31(2), 2001):
///
///     R   = 93.2 - Id - Ie
///     Id  = 0.024 d + 0.11 (d - 177.3) H(d - 177.3)     d: mouth to ear in ms, H: the step function
///     Ie  = 95 p / (p + Bpl)                            p: loss in percent (G.107 equation 7-29, random loss, Ie = 0)
///     MOS = 1 + 0.035 R + 7e-6 R (R - 60) (100 - R)     (G.107 annex B)
///
/// The one-way delay is half the round trip, a jitter buffer of twice the jitter, and 25 ms for a frame of 20 ms and
/// its look-ahead. Bpl = 25.1 is that of G.711 with packet loss concealment (G.113 appendix I), the nearest listed
/// codec to Opus with its own concealment. The E-model rates narrowband speech, so good Opus sounds better than it
/// says.
package enum OpinionScore {
    package static func estimate(loss: Double, jitter: Double, roundTrip: Double) -> Double {
        let delay = roundTrip / 2 + 2 * jitter + 25
        let delayImpairment = 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0)
        let percent = loss * 100
        let lossImpairment = 95 * percent / (percent + 25.1)
        let rating = min(100, max(0, 93.2 - delayImpairment - lossImpairment))
        let score = 1 + 0.035 * rating + 7e-6 * rating * (rating - 60) * (100 - rating)
        return (min(4.5, max(1, score)) * 100).rounded() / 100
    }
}
