package import Model

/// Offer and answer (RFC 8829) between two endpoints of a call, in generations.
///
/// Each committed offer is one generation higher than the one it builds on. While it is unanswered, an offer from the
/// other side that does not build on it collides and is rejected; its sender rolls back, answers the winner and offers
/// again. The order of commits thus decides which of two colliding offers wins, and no side needs to be "polite". After
/// 10 s without an answer an offer is void: it no longer blocks other offers, but its answer is still accepted as long
/// as there is no newer offer, since the user may have been asked for microphone permission in the meantime.
///
/// Candidates name their generation. Those of the next generation may overtake their offer and are held; those of
/// earlier generations are ignored. In a call that nobody has accepted the second endpoint is not known: then
/// everything is held, and the negotiation is bound to the endpoint that accepts.
package struct Negotiation: Hashable, Sendable {
    /// The two endpoints in the order of their ids; the second is nil until the call is accepted.
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
        /// When it was delivered to its recipient; absent while there is no recipient.
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

    /// The highest base generation that the API accepts; no call has so many offers.
    private static let highestBase: Int64 = 1_000_000

    package let call: CallID
    package private(set) var peers: Peers
    /// The generation of the last committed offer; 0 before the first.
    package private(set) var generation: Int64
    package private(set) var offer: Offer?
    /// The number of held candidates of each of the two.
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
        /// It builds on a generation that does not exist.
        case unknownGeneration
    }

    /// Applies an offer by one of the two that builds on `base`.
    mutating func offer(from sender: EndpointID, on base: Int64, rules: CallRules, at now: Timestamp) -> OfferVerdict {
        if generation == 0, offer == nil, (1..<Self.highestBase).contains(base) {
            // The negotiation was lost, as after a restored backup: continue from the clients' generation.
            generation = base
        }
        guard base >= 0, base <= generation else { return .unknownGeneration }
        if let current = offer {
            let isVoid = current.deliveredAt.map { now.milliseconds(since: $0) >= rules.offerSeconds * 1000 } ?? false
            if !current.isAnswered && isVoid {
                // The current offer is void: the new one is accepted whatever it builds on.
            } else if base != generation || (!current.isAnswered && current.from != sender) {
                return .collision
            }
        }
        generation += 1
        offer = Offer(
            from: sender, deliveredAt: peers.second == nil ? nil : now, sequence: nil, isAnswered: false)
        return .committed(generation)
    }

    /// The committed offer was appended to its recipient's mailbox.
    mutating func delivered(at sequence: Int64) { offer?.sequence = sequence }

    enum AnswerVerdict: Hashable {
        case committed
        case ignored
        case unknownGeneration
        /// Nobody answers their own offer.
        case ownOffer
    }

    mutating func answer(from sender: EndpointID, to generation: Int64) -> AnswerVerdict {
        guard let current = offer, generation <= self.generation, generation > 0 else { return .unknownGeneration }
        guard generation == self.generation else { return .ignored }
        guard current.from != sender else { return .ownOffer }
        guard !current.isAnswered else { return .ignored }
        offer?.isAnswered = true
        return .committed
    }

    enum CandidatesVerdict: Hashable {
        case delivered
        /// They are held until their offer arrives, or somebody accepts.
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

    /// Resets the counts of held candidates.
    mutating func release() {
        heldFromFirst = 0
        heldFromSecond = 0
    }

    /// Binds the negotiation to the endpoint that accepted; `held` of the opener's candidates are still held for an
    /// offer.
    mutating func bind(to endpoint: EndpointID, held: Int, at now: Timestamp) {
        guard peers.second == nil else { return }
        let opener = peers.first
        peers = Peers(opener, endpoint)
        (heldFromFirst, heldFromSecond) = opener == peers.first ? (held, 0) : (0, held)
        offer?.deliveredAt = now
    }
}
