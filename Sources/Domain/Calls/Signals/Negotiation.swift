package import Model

/// Offer and answer (RFC 8829) between two endpoints of a call, in generations.
///
/// Each committed offer is one generation higher than the one it builds on. While it is unanswered, an offer from the
/// other side that knows nothing of it collides and is refused; its sender rolls back, answers the winner and offers
/// again. Which of two colliding offers wins is thus decided by the order of commits, and no side needs to be "polite".
/// After 10 s without an answer an offer is void: it stands in nobody's way, but its answer is still welcome as long as
/// nothing newer was offered, since a person may have been asked for the microphone in the meantime.
///
/// Candidates name the generation they belong to. Those of the next generation may overtake their offer and are held;
/// those of earlier generations are useless. In a call that nobody has accepted the second endpoint is not known: then
/// everything is held, and the negotiation is bound to the endpoint that accepts.
package struct Negotiation: Hashable, Sendable {
    /// The two endpoints in the order of their ids, or one and nobody yet.
    package struct Peers: Hashable, Sendable {
        package let first: EndpointID
        package let second: EndpointID?

        package init(_ one: EndpointID, _ other: EndpointID?) {
            if let other, other.text < one.text {
                (first, second) = (other, one)
            } else {
                (first, second) = (one, other)
            }
        }

        func other(than endpoint: EndpointID) -> EndpointID? { endpoint == first ? second : first }
    }

    package struct Offer: Hashable, Sendable {
        package var from: EndpointID
        /// When its recipient could know of it; absent while there is no recipient.
        package var deliveredAt: Timestamp?
        /// Its sequence in the recipient's mailbox.
        package var sequence: Int64?
        package var isAnswered: Bool

        package init(from: EndpointID, deliveredAt: Timestamp?, sequence: Int64?, isAnswered: Bool) {
            self.from = from
            self.deliveredAt = deliveredAt
            self.sequence = sequence
            self.isAnswered = isAnswered
        }
    }

    /// No call has so many offers: that is what the API takes.
    private static let highestBase: Int64 = 1_000_000

    package let call: CallID
    package private(set) var peers: Peers
    /// The generation of the last committed offer; 0 before the first.
    package private(set) var generation: Int64
    package private(set) var offer: Offer?
    /// How many candidates are held back from each of the two.
    package private(set) var heldFromFirst: Int
    package private(set) var heldFromSecond: Int

    package init(
        call: CallID, peers: Peers, generation: Int64 = 0, offer: Offer? = nil, heldFromFirst: Int = 0,
        heldFromSecond: Int = 0
    ) {
        self.call = call
        self.peers = peers
        self.generation = generation
        self.offer = offer
        self.heldFromFirst = heldFromFirst
        self.heldFromSecond = heldFromSecond
    }

    enum OfferVerdict: Hashable {
        /// The offer is the new generation.
        case committed(Int64)
        case collision
        /// It builds on a generation that never was.
        case unknownGeneration
    }

    /// An offer that builds on `base` comes from one of the two.
    mutating func offer(from sender: EndpointID, on base: Int64, rules: CallRules, at now: Timestamp) -> OfferVerdict {
        if generation == 0, offer == nil, (1..<Self.highestBase).contains(base) {
            // What the two agreed on was forgotten, as after a restored backup: they go on from what they know.
            generation = base
        }
        guard base >= 0, base <= generation else { return .unknownGeneration }
        if let standing = offer {
            let isVoid = standing.deliveredAt.map { now.milliseconds(since: $0) >= rules.offerSeconds * 1000 } ?? false
            if !standing.isAnswered && isVoid {
                // Nobody waits for it: whatever the sender knew of, its offer comes next.
            } else if base != generation || (!standing.isAnswered && standing.from != sender) {
                return .collision
            }
        }
        generation += 1
        offer = Offer(
            from: sender, deliveredAt: peers.second == nil ? nil : now, sequence: nil, isAnswered: false)
        return .committed(generation)
    }

    /// The committed offer went into its recipient's mailbox.
    mutating func delivered(at sequence: Int64) { offer?.sequence = sequence }

    enum AnswerVerdict: Hashable {
        case committed
        case ignored
        case unknownGeneration
        /// Nobody answers their own offer.
        case ownOffer
    }

    mutating func answer(from sender: EndpointID, to generation: Int64) -> AnswerVerdict {
        guard let standing = offer, generation <= self.generation, generation > 0 else { return .unknownGeneration }
        guard generation == self.generation else { return .ignored }
        guard standing.from != sender else { return .ownOffer }
        guard !standing.isAnswered else { return .ignored }
        offer?.isAnswered = true
        return .committed
    }

    enum CandidatesVerdict: Hashable {
        case delivered
        /// They wait for their offer, or for somebody to accept.
        case held
        case ignored
        case unknownGeneration
    }

    mutating func candidates(
        from sender: EndpointID, of generation: Int64, weight: Int, rules: CallRules
    ) -> CandidatesVerdict {
        guard generation > 0, generation <= self.generation + 1 else { return .unknownGeneration }
        guard generation >= self.generation else { return .ignored }
        if generation == self.generation, peers.second != nil { return .delivered }
        guard held(from: sender) + weight <= rules.heldLimit else { return .ignored }
        if sender == peers.first { heldFromFirst += weight } else { heldFromSecond += weight }
        return .held
    }

    package func held(from sender: EndpointID) -> Int { sender == peers.first ? heldFromFirst : heldFromSecond }

    /// Nothing is held back any more.
    mutating func release() {
        heldFromFirst = 0
        heldFromSecond = 0
    }

    /// The endpoint that accepted is the other side of what was offered to nobody in particular; `held` of that goes on
    /// waiting for an offer.
    mutating func bind(to endpoint: EndpointID, held: Int, at now: Timestamp) {
        guard peers.second == nil else { return }
        let opener = peers.first
        peers = Peers(opener, endpoint)
        (heldFromFirst, heldFromSecond) = opener == peers.first ? (held, 0) : (0, held)
        offer?.deliveredAt = now
    }
}
