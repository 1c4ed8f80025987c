package import Calls
package import Model

/// Gets legs with the media gateway for endpoints that are in calls.
package protocol LegService: Sendable {
    /// Answers an offer of the principal's endpoint; throws a `Problem` where it cannot.
    func answer(_ request: OfferLeg, in call: CallID, by principal: Principal) async throws -> AnsweredLeg
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

    /// A mid is a name, even where it looks like a number.
    private struct Mid: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        offer = try container.decode(SessionDescription.self, forKey: .offer)
        guard let words = try container.decodeIfPresent([String: String].self, forKey: .sources) else { return }
        var sources: [String: LegTrack.Source] = [:]
        for (mid, word) in words {
            guard let source = LegTrack.Source(rawValue: word) else {
                let path = container.codingPath + [CodingKeys.sources, Mid(stringValue: mid)]
                let allowed = LegTrack.Source.allCases.map(\.rawValue).joined(separator: ", ")
                throw DecodingError.dataCorrupted(
                    .init(codingPath: path, debugDescription: "must be one of \(allowed)"))
            }
            sources[mid] = source
        }
        self.sources = sources
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
