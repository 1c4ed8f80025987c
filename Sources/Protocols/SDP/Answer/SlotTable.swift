/// The slots of a leg while an answer is made: existing ones keep their identity, new ones get one that does not
/// collide with the client's sources.
struct SlotTable {
    private(set) var identities: [String: SlotIdentity]
    /// Slots that this answer has so far.
    private(set) var count: [MediaKind: Int] = [:]
    private var taken: Set<UInt32>

    init(known: [String: SlotIdentity], offer: SessionDescription) {
        identities = known
        taken = Set(known.values.flatMap { [$0.ssrc, $0.retransmissionSSRC] })
        for section in offer.sections {
            for source in section.sources { taken.insert(source.ssrc) }
        }
    }

    mutating func take(_ mid: String, _ kind: MediaKind, _ make: (MediaKind) -> SlotIdentity) -> SlotIdentity? {
        count[kind, default: 0] += 1
        if let known = identities[mid] { return known }
        for _ in 0..<16 {
            let slot = make(kind)
            guard slot.ssrc != slot.retransmissionSSRC, !taken.contains(slot.ssrc),
                !taken.contains(slot.retransmissionSSRC)
            else { continue }
            taken.formUnion([slot.ssrc, slot.retransmissionSSRC])
            identities[mid] = slot
            return slot
        }
        return nil
    }
}

extension MediaSection {
    /// Adds the slot's stream and sources (RFC 8830, RFC 5576).
    mutating func describe(_ slot: SlotIdentity, hasRetransmissions: Bool) {
        streams = [MSID(stream: slot.stream, track: slot.track)]
        sources = [SourceAttribute(slot.ssrc, "cname", slot.cname)]
        guard hasRetransmissions else { return }
        sourceGroups = [SourceGroup("FID", [slot.ssrc, slot.retransmissionSSRC])]
        sources.append(SourceAttribute(slot.retransmissionSSRC, "cname", slot.cname))
    }
}
