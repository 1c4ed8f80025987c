/// Answers the offers of one leg, from the first to the last (RFC 3264, RFC 9429 section 5.3).
///
/// The client always offers. Where it sends, the gateway receives; where it only receives, it gets a slot; a section
/// that does both is a track and a slot at once. Everything uses one transport: rtcp-mux is required, and BUNDLE for
/// more than one section; the gateway is ICE-lite, and passive in DTLS unless the client is. Later offers cannot change
/// the mids and kinds of active sections, the meaning of payload types and extensions, a slot's SSRC, or who begins the
/// handshake.
///
/// The value changes only when an answer was made; an offer that is rejected leaves the leg as it was.
package struct LegNegotiation: Sendable {
    private struct KnownSection: Hashable, Sendable {
        var mid: String
        var kind: String
        var isRejected: Bool
    }

    private let session: UInt64
    private var version: UInt64 = 0
    private var knownSections: [KnownSection] = []
    private var slots: [String: SlotIdentity] = [:]
    private var mappings = BundleMappings()
    private var remote: RemoteTransport?
    private var credentials: ICECredentials?

    /// `session` is the session id in the `o=` line of the answers, below 2^63 (RFC 9429 section 5.2.1).
    package init(session: UInt64) {
        self.session = session & UInt64(Int64.max)
    }

    /// Answers the leg's next offer. `newSlot` makes identities for new slots; it is called again when it returns an
    /// SSRC that is in use.
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
        let bundle = try bundle(of: offer)
        let bundled = Set(bundle)
        try checkSections(offer)

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
                if let reason = mappings.add(section) { throw error(reason, index, mid) }
                if let kind = made.kind, made.direction.sends {
                    guard let slot = slots.take(mid, kind, newSlot) else { throw error(.noFreeSSRC, index, mid) }
                    made.slot = slot
                    answer.describe(slot, hasRetransmissions: made.codecs.contains { $0.retransmission != nil })
                }
            }
            sections.append(made)
            answers.append(answer)
        }

        if capabilities.requiresEveryKind, let missing = Self.firstWithoutCodec(sections, of: offer),
            let rejection = missing.rejection
        {
            throw error(.codecsNotSupported(rejection), missing.index, missing.mid)
        }
        let live = Set(sections.filter { $0.rejection == nil }.map(\.mid))
        guard let tag = bundle.first(where: { live.contains($0) }),
            let tagged = offer.sections.firstIndex(where: { $0.mid == tag })
        else {
            let first = sections.first { !offer.sections[$0.index].isRejected } ?? sections.first
            throw error(.nothingAcceptable(first?.rejection?.description ?? ""))
        }
        let remote = try remoteTransport(offer, tagged, tag)
        let isRestart = self.remote.map { $0.credentials != remote.credentials } ?? false
        let credentials = isRestart ? transport.freshCredentials : self.credentials ?? transport.freshCredentials

        var answer = assemble(
            offer, answers, live, bundle: bundle.filter { live.contains($0) }, transport, credentials,
            remote)
        // An answer has no group that was not offered (RFC 5888 section 9.2).
        if offer.bundle == nil { answer.groups = [] }
        knownSections = zip(offer.sections, sections).map { offered, made in
            KnownSection(mid: made.mid, kind: offered.kind, isRejected: made.rejection != nil)
        }
        // A slot keeps its identity while its section is active, even while nothing is shown in it.
        self.slots = slots.identities.filter { live.contains($0.key) }
        self.remote = remote
        self.credentials = credentials
        version += 1
        return NegotiatedLeg(
            answer: answer, sections: sections, remote: remote, credentials: credentials, isICERestart: isRestart,
            allowsMixedExtensions: builder.allowsMixedExtensions)
    }

    /// The mids of the sections that share a transport (RFC 9143). A section of audio or video that is alone needs no
    /// group for that: GStreamer's default policy offers none.
    private func bundle(of offer: SessionDescription) throws(OfferError) -> [String] {
        if let bundle = offer.bundle { return bundle }
        let media = offer.sections.filter { !$0.isRejected && MediaKind(rawValue: $0.kind) != nil }
        guard media.count < 2 else { throw error(.noBundle) }
        return media.compactMap(\.mid)
    }

    /// The first section in which the client would send, but in no supported codec, unless another one of its kind is
    /// received.
    private static func firstWithoutCodec(
        _ sections: [NegotiatedSection], of offer: SessionDescription
    ) -> NegotiatedSection? {
        sections.first { section in
            guard case .codecs? = section.rejection,
                (offer.sections[section.index].direction ?? offer.attributes.direction ?? .sendReceive).sends
            else { return false }
            return !sections.contains { $0.kind == section.kind && $0.rejection == nil && $0.direction.receives }
        }
    }

    /// RFC 3264 section 8: sections are never removed, and only rejected ones can be reused for others.
    private func checkSections(_ offer: SessionDescription) throws(OfferError) {
        guard !offer.sections.isEmpty else { throw error(.noSections) }
        guard offer.sections.count >= knownSections.count else { throw error(.sectionsMissing(knownSections.count)) }
        var mids: Set<String> = []
        for (index, section) in offer.sections.enumerated() {
            guard let mid = section.mid else {
                // Firefox removes the mid of a stopped section, which keeps its place all the same.
                guard section.isRejected else { throw error(.noMid, index) }
                continue
            }
            guard mids.insert(mid).inserted else { throw error(.repeatedMid, index, mid) }
            guard index < knownSections.count, !knownSections[index].isRejected, !section.isRejected else { continue }
            guard knownSections[index].mid == mid, knownSections[index].kind == section.kind else {
                throw error(
                    .sectionChanged(was: "\(knownSections[index].kind) with mid \(knownSections[index].mid)"), index,
                    mid)
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
        // RFC 8827 section 6.5 and RFC 8122 section 5: weaker hashes are not accepted.
        let fingerprints = all.filter { ["sha-256", "sha-384", "sha-512"].contains($0.algorithm) }
        guard !fingerprints.isEmpty else { throw error(.noFingerprint, index, mid) }
        let role = own.setup ?? session.setup
        let awaitsHandshake: Bool
        switch role {
        // The gateway keeps its role in an offer that leaves it the choice.
        case .actpass, nil: awaitsHandshake = remote?.awaitsHandshake ?? false
        case .active: awaitsHandshake = false
        case .passive: awaitsHandshake = true
        case .holdconn: throw error(.setup(.holdconn), index, mid)
        }
        if let role, let remote, remote.awaitsHandshake != awaitsHandshake {
            throw error(.roleChanged(role), index, mid)
        }
        if let remote, Set(remote.fingerprints) != Set(fingerprints) { throw error(.fingerprintChanged, index, mid) }
        let options = own.iceOptions + session.iceOptions
        return RemoteTransport(
            credentials: credentials, fingerprints: fingerprints, candidates: offer.sections[index].candidates,
            trickles: options.contains("trickle"), renominates: options.contains("renomination"),
            awaitsHandshake: awaitsHandshake)
    }

    private func assemble(
        _ offer: SessionDescription, _ answers: [MediaSection], _ live: Set<String>, bundle: [String],
        _ transport: GatewayTransport, _ credentials: ICECredentials, _ remote: RemoteTransport
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
            answer.sections[index].attributes.iceOptions =
                ["ice2", "trickle"] + (remote.renominates ? ["renomination"] : [])
            answer.sections[index].attributes.fingerprints = transport.fingerprints
            answer.sections[index].attributes.setup = remote.awaitsHandshake ? .active : .passive
            // In the first section of the bundle would suffice (RFC 9143 section 7.1.3), but aiortc reads the last one.
            answer.sections[index].candidates = transport.candidates
            answer.sections[index].hasEndOfCandidates = true
        }
        return answer
    }

    private func error(_ reason: OfferError.Reason, _ section: Int? = nil, _ mid: String? = nil) -> OfferError {
        OfferError(reason: reason, section: section, mid: mid)
    }
}
