import SDP

/// A call, as known outside of its worker.
struct CallRecord {
    let worker: Int
    var legs = 0
    var codecs = CallCodecs()
}

/// The video codecs in which the legs of a call may publish, so that all of them can play it.
///
/// VP8 is common to all. Another codec is common while every leg with video slots can play it. A leg that joins without
/// it makes those that publish in it outdated: they have to offer again, and are answered without it. Legs are not
/// notified when a codec becomes common again; their next offer will find it.
struct CallCodecs {
    private struct Leg {
        let key: LegKey
        /// nil when it has no video slots.
        let plays: Set<MediaCodec>?
        /// By section.
        let publishes: [Set<MediaCodec>]
    }

    private static let always = MediaCodec.vp8
    private var legs: [UInt64: Leg] = [:]

    mutating func update(_ negotiated: NegotiatedLeg, _ number: UInt64, _ key: LegKey) {
        let sections = negotiated.sections.filter { $0.rejection == nil && $0.kind == .video }
        let played = sections.filter(\.direction.sends).flatMap { $0.codecs.map(\.codec) }
        legs[number] = Leg(
            key: key, plays: played.isEmpty ? nil : Set(played),
            publishes: sections.filter(\.direction.receives).map { Set($0.codecs.map(\.codec)) })
    }

    mutating func remove(_ number: UInt64) {
        legs[number] = nil
    }

    /// The codecs that all legs but one can play.
    func common(without number: UInt64, of all: Set<MediaCodec>) -> Set<MediaCodec> {
        legs.reduce(into: all) { common, other in
            if other.key != number, let plays = other.value.plays { common.formIntersection(plays) }
        }.union([Self.always])
    }

    /// The legs that publish in a codec that some leg cannot play, and could publish in a common one instead.
    func outdated(of all: Set<MediaCodec>) -> [LegKey] {
        legs.sorted { $0.key < $1.key }.compactMap { number, leg in
            let common = common(without: number, of: all)
            let isOutdated = leg.publishes.contains { !$0.isSubset(of: common) && !$0.isDisjoint(with: common) }
            return isOutdated ? leg.key : nil
        }
    }
}
