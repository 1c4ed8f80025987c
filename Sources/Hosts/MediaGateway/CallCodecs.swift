import SDP

/// A call, seen from outside of its worker.
struct CallRecord {
    let worker: Int
    var legs = 0
    var codecs = CallCodecs()
}

/// In which video codecs the legs of a call may publish, so that all of them can play it.
///
/// VP8 is common to all. Another codec is so while every leg that is shown pictures plays it. A leg that comes without it
/// makes those that publish in it outdated: they are to offer again, and are answered with less. That a codec became
/// common again nobody is told; the next offer finds it.
struct CallCodecs {
    private struct Leg {
        let key: LegKey
        /// nil when it is shown no pictures.
        let plays: Set<MediaCodec>?
        /// By section.
        let publishes: [Set<MediaCodec>]
    }

    private static let always = MediaCodec.vp8
    private var legs: [UInt64: Leg] = [:]

    mutating func note(_ negotiated: NegotiatedLeg, _ number: UInt64, _ key: LegKey) {
        let sections = negotiated.sections.filter { $0.rejection == nil && $0.kind == .video }
        let played = sections.filter(\.direction.sends).flatMap { $0.codecs.map(\.codec) }
        legs[number] = Leg(
            key: key, plays: played.isEmpty ? nil : Set(played),
            publishes: sections.filter(\.direction.receives).map { Set($0.codecs.map(\.codec)) })
    }

    mutating func remove(_ number: UInt64) {
        legs[number] = nil
    }

    /// What all legs but one play, of the codecs that there are.
    func common(without number: UInt64, of all: Set<MediaCodec>) -> Set<MediaCodec> {
        legs.reduce(into: all) { common, other in
            if other.key != number, let plays = other.value.plays { common.formIntersection(plays) }
        }.union([Self.always])
    }

    /// Those that publish what somebody cannot play, and could do with what everybody can.
    func outdated(of all: Set<MediaCodec>) -> [LegKey] {
        legs.sorted { $0.key < $1.key }.compactMap { number, leg in
            let common = common(without: number, of: all)
            let isOutdated = leg.publishes.contains { !$0.isSubset(of: common) && !$0.isDisjoint(with: common) }
            return isOutdated ? leg.key : nil
        }
    }
}
