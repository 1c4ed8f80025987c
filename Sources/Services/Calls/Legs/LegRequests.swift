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
    /// A section that is not forwarded although the client offers it.
    package struct RejectedSection: Hashable, Sendable {
        package var mid: String
        package var reason: String
    }

    package var sdp: String
    package var outcome: LegOutcome
    package var positions: [StreamName: Position]
    package var rejected: [RejectedSection]

    package init(
        sdp: String, outcome: LegOutcome, positions: [StreamName: Position], rejected: [RejectedSection] = []
    ) {
        self.sdp = sdp
        self.outcome = outcome
        self.positions = positions
        self.rejected = rejected
    }
}
