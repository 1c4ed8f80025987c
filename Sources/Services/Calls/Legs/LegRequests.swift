package import Calls
package import Model

/// The body of `calls.leg`.
package struct OfferLeg: Hashable, Sendable, Decodable {
    package var offer: SessionDescriptionInit
    package var sources: [String: LegTrack.Source]?

    package init(offer: SessionDescriptionInit, sources: [String: LegTrack.Source]? = nil) {
        self.offer = offer
        self.sources = sources
    }

    private enum CodingKeys: String, CodingKey {
        case offer, sources
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        offer = try container.decode(SessionDescriptionInit.self, forKey: .offer)
        guard container.contains(.sources), try !container.decodeNil(forKey: .sources) else { return }
        sources = try container.decodeChoices(forKey: .sources)
    }
}

/// The body of `calls.slots`.
package struct WantSlots: Hashable, Sendable, Decodable {
    package var slots: [String: SlotQuality]

    package init(slots: [String: SlotQuality]) { self.slots = slots }

    private enum CodingKeys: String, CodingKey {
        case slots
    }

    package init(from decoder: any Decoder) throws {
        slots = try decoder.container(keyedBy: CodingKeys.self).decodeChoices(forKey: .slots)
    }
}

/// A leg that was answered, and the position of its endpoint's mailbox after the slots were written.
package struct AnsweredLeg: Hashable, Sendable {
    package var sdp: String
    package var outcome: LegOutcome
    package var positions: [StreamName: Position]

    package init(sdp: String, outcome: LegOutcome, positions: [StreamName: Position]) {
        self.sdp = sdp
        self.outcome = outcome
        self.positions = positions
    }
}
