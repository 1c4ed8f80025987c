package import Calls
package import Model

/// Gets legs with the media gateway for endpoints that are in calls.
package protocol LegService: Sendable {
    /// Answers an offer of the principal's endpoint; throws a `Problem` where it cannot.
    func answer(_ request: OfferLeg, in call: CallID, by principal: Principal) async throws -> AnsweredLeg

    /// Takes what the principal's endpoint wants in video slots of its leg; answers what it wants then in all of them.
    func want(_ request: WantSlots, in call: CallID, by principal: Principal) async throws -> [SlotWish]
}

/// The body of `calls.leg`.
package struct OfferLeg: Hashable, Sendable, Decodable {
    package var offer: SessionDescription
    package var sources: [String: LegTrack.Source]?

    package init(offer: SessionDescription, sources: [String: LegTrack.Source]? = nil) {
        self.offer = offer
        self.sources = sources
    }

    private enum CodingKeys: String, CodingKey {
        case offer, sources
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        offer = try container.decode(SessionDescription.self, forKey: .offer)
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

/// A leg as it was agreed on, and how far its endpoint's mailbox has come with what the slots show.
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
