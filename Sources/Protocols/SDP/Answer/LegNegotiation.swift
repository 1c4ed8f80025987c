/// Answers the offers of one leg, from the first to the last (RFC 3264, RFC 9429 section 5.3).
///
/// The client always offers. Where it sends, the gateway receives; where it only receives, it gets a slot; a section
/// that does both is a track and a slot at once. Everything goes over one transport: BUNDLE and rtcp-mux are required,
/// the gateway is ICE-lite and passive in DTLS. What a later offer may not change does not change: mids and kinds of
/// sections that live, the meaning of payload types and extensions, a slot's SSRC.
///
/// The value changes only when an answer was made; an offer that is refused leaves the leg as it was.
package struct LegNegotiation: Sendable {
    private struct Place: Hashable, Sendable {
        var mid: String
        var kind: String
        var isRejected: Bool
    }

    private let session: UInt64
    private var version: UInt64 = 0
    private var places: [Place] = []
    private var slots: [String: SlotIdentity] = [:]
    private var numbers = BundleNumbers()
    private var remote: RemoteTransport?
    private var credentials: ICECredentials?

    /// `session` is a number for the answers' `o=` line, below 2^63 (RFC 9429 section 5.2.1).
    package init(session: UInt64) {
        self.session = session & UInt64(Int64.max)
    }

    /// The answer to the leg's next offer. `newSlot` gives identities to slots that have none; it is asked again when
    /// it names an SSRC that is taken.
    package mutating func answer(
        _ offer: SessionDescription, _ capabilities: GatewayCapabilities, _ transport: GatewayTransport,
        newSlot: (MediaKind) -> SlotIdentity
    ) throws(OfferError) -> NegotiatedLeg {
        var next = self
        let leg = try next.negotiate(offer, capabilities, transport, newSlot)
        self = next
        return leg
    }

    private mutating func negotiate(
        _ offer: SessionDescription, _ capabilities: GatewayCapabilities, _ transport: GatewayTransport,
        _ newSlot: (MediaKind) -> SlotIdentity
    ) throws(OfferError) -> NegotiatedLeg {
        guard let bundle = offer.bundle else { throw error(.noBundle) }
        let bundled = Set(bundle)
        try checkPlaces(offer)

        var builder = SectionBuilder(offer, capabilities)
        var slots = SlotTable(known: self.slots, offer: offer)
        var sections: [NegotiatedSection] = []
        var answers: [MediaSection] = []
        for (index, section) in offer.sections.enumerated() {
            let mid = section.mid ?? ""
            var (made, answer) = builder.build(
                section, index: index, mid: mid, isBundled: bundled.contains(mid), slots: slots.count)
            if made.rejection == nil {
                guard section.hasRTCPMultiplexing else { throw error(.noRTCPMultiplexing, index, mid) }
                if let reason = numbers.add(section) { throw error(reason, index, mid) }
                if let kind = made.kind, made.direction.sends {
                    guard let slot = slots.take(mid, kind, newSlot) else { throw error(.noFreeSource, index, mid) }
                    made.slot = slot
                    answer.describe(slot, hasRetransmissions: made.codecs.contains { $0.retransmission != nil })
                }
            }
            sections.append(made)
            answers.append(answer)
        }

        let live = Set(sections.filter { $0.rejection == nil }.map(\.mid))
        guard let tag = bundle.first(where: { live.contains($0) }),
            let tagged = offer.sections.firstIndex(where: { $0.mid == tag })
        else { throw error(.nothingAcceptable(sections.first?.rejection ?? "")) }
        let remote = try remoteTransport(offer, tagged, tag)
        let isRestart = self.remote.map { $0.credentials != remote.credentials } ?? false
        let credentials = isRestart ? transport.freshCredentials : self.credentials ?? transport.freshCredentials

        let answer = assemble(
            offer, answers, live, bundle: bundle.filter { live.contains($0) }, transport, credentials,
            renominates: remote.renominates)
        places = zip(offer.sections, sections).map { offered, made in
            Place(mid: made.mid, kind: offered.kind, isRejected: made.rejection != nil)
        }
        // What a slot was called is kept while its section lives, also while nothing is shown in it.
        self.slots = slots.identities.filter { live.contains($0.key) }
        self.remote = remote
        self.credentials = credentials
        version += 1
        return NegotiatedLeg(
            answer: answer, sections: sections, remote: remote, credentials: credentials, isICERestart: isRestart,
            allowsMixedExtensions: builder.allowsMixedExtensions)
    }

    /// RFC 3264 section 8: sections are never removed, and only rejected ones make place for others.
    private func checkPlaces(_ offer: SessionDescription) throws(OfferError) {
        guard !offer.sections.isEmpty else { throw error(.noSections) }
        guard offer.sections.count >= places.count else { throw error(.sectionsMissing(places.count)) }
        var mids: Set<String> = []
        for (index, section) in offer.sections.enumerated() {
            guard let mid = section.mid else { throw error(.noMid, index) }
            guard mids.insert(mid).inserted else { throw error(.repeatedMid, index, mid) }
            guard index < places.count, !places[index].isRejected, !section.isRejected else { continue }
            guard places[index].mid == mid, places[index].kind == section.kind else {
                throw error(.sectionChanged(was: "\(places[index].kind) with mid \(places[index].mid)"), index, mid)
            }
        }
    }

    /// RFC 9143 section 7.3.1: the transport is that of the first section of the bundle that is accepted.
    private func remoteTransport(
        _ offer: SessionDescription, _ index: Int, _ mid: String
    ) throws(OfferError) -> RemoteTransport {
        let (own, session) = (offer.sections[index].attributes, offer.attributes)
        guard let credentials = ICECredentials(own) ?? ICECredentials(session) else {
            throw error(.noICECredentials, index, mid)
        }
        let all = own.fingerprints.isEmpty ? session.fingerprints : own.fingerprints
        // RFC 8827 section 6.5 and RFC 8122 section 5: nothing weaker is accepted.
        let fingerprints = all.filter { ["sha-256", "sha-384", "sha-512"].contains($0.algorithm) }
        guard !fingerprints.isEmpty else { throw error(.noFingerprint, index, mid) }
        if let role = own.setup ?? session.setup, role == .passive || role == .holdconn {
            throw error(.setup(role), index, mid)
        }
        if let remote, Set(remote.fingerprints) != Set(fingerprints) { throw error(.fingerprintChanged, index, mid) }
        let options = own.iceOptions + session.iceOptions
        return RemoteTransport(
            credentials: credentials, fingerprints: fingerprints, candidates: offer.sections[index].candidates,
            trickles: options.contains("trickle"), renominates: options.contains("renomination"))
    }

    private func assemble(
        _ offer: SessionDescription, _ answers: [MediaSection], _ live: Set<String>, bundle: [String],
        _ transport: GatewayTransport, _ credentials: ICECredentials, renominates: Bool
    ) -> SessionDescription {
        var answer = SessionDescription()
        answer.origin.session = String(session)
        answer.origin.version = String(version + 1)
        answer.groups = [SectionGroup("BUNDLE", bundle)]
        answer.isICELite = true
        answer.attributes.allowsMixedExtensions = offer.attributes.allowsMixedExtensions
        // The default destination (RFC 8839 section 4.2.1.2): a lite agent's is one of its candidates.
        let first = transport.candidates.first { $0.transport == "udp" }
        answer.sections = answers
        for index in answers.indices where live.contains(answers[index].mid ?? "") {
            answer.sections[index].port = first?.port ?? 9
            answer.sections[index].connection =
                first.map { "IN \($0.address.utf8.contains(UInt8(ascii: ":")) ? "IP6" : "IP4") \($0.address)" }
                ?? "IN IP4 0.0.0.0"
            answer.sections[index].attributes.iceUfrag = credentials.ufrag
            answer.sections[index].attributes.icePassword = credentials.password
            answer.sections[index].attributes.iceOptions = ["ice2", "trickle"] + (renominates ? ["renomination"] : [])
            answer.sections[index].attributes.fingerprints = transport.fingerprints
            answer.sections[index].attributes.setup = .passive
            // The first section of the bundle would do (RFC 9143 section 7.1.3), but aiortc looks into the last one.
            answer.sections[index].candidates = transport.candidates
            answer.sections[index].hasEndOfCandidates = true
        }
        return answer
    }

    private func error(_ reason: OfferError.Reason, _ section: Int? = nil, _ mid: String? = nil) -> OfferError {
        OfferError(reason: reason, section: section, mid: mid)
    }
}
