/// Answers one section after the other, without the transport parameters that all of them share.
struct SectionBuilder {
    private let offer: SessionDescription
    private let capabilities: GatewayCapabilities
    private(set) var allowsMixedExtensions: Bool
    /// Encodings that are accepted so far.
    private var published = 0

    init(_ offer: SessionDescription, _ capabilities: GatewayCapabilities) {
        self.offer = offer
        self.capabilities = capabilities
        allowsMixedExtensions = offer.attributes.allowsMixedExtensions
    }

    mutating func build(
        _ section: MediaSection, index: Int, mid: String, isBundled: Bool, slots: [MediaKind: Int]
    ) -> (NegotiatedSection, MediaSection) {
        func rejected(_ why: SectionRejection) -> (NegotiatedSection, MediaSection) {
            var made = NegotiatedSection(
                index: index, mid: mid, kind: MediaKind(rawValue: section.kind), direction: .inactive)
            made.rejection = why
            return (made, section.rejecting)
        }
        guard !section.isRejected else { return rejected(.stopped) }
        guard let kind = MediaKind(rawValue: section.kind) else { return rejected(.kind(section.kind)) }
        guard section.transport.hasSuffix("RTP/SAVPF") else { return rejected(.transport(section.transport)) }
        guard isBundled else { return rejected(.notBundled) }

        let offered = section.direction ?? offer.attributes.direction ?? .sendReceive
        let needed = min(max(section.simulcast?.send.count ?? 1, 1), capabilities.maximumEncodings)
        let direction = Direction(
            sends: offered.receives && slots[kind, default: 0] < capabilities.slots(kind),
            receives: offered.sends && capabilities.mayPublish.contains(kind)
                && published &+ needed <= capabilities.maximumPublishedEncodings)
        let mixes = section.attributes.allowsMixedExtensions || offer.attributes.allowsMixedExtensions
        let maps = extensions(section, direction, mixes: mixes)
        let choice = PayloadChoice(
            section, kind, capabilities, isPublished: direction.receives,
            hasTransportWide: maps.contains { $0.uri == ExtensionURI.transportWide })
        guard choice.isUsable else { return rejected(.codecs(of: section, accepted: capabilities.codecs(kind))) }
        allowsMixedExtensions = allowsMixedExtensions || mixes

        var made = NegotiatedSection(index: index, mid: mid, kind: kind, direction: direction)
        made.codecs = choice.codecs
        made.extensions = maps.map { map in
            NegotiatedExtension(
                id: UInt8(truncatingIfNeeded: map.id), uri: map.uri, direction: map.direction ?? .sendReceive)
        }
        made.hasReducedSizeRTCP = section.hasReducedSizeRTCP

        var answer = MediaSection(kind: section.kind, port: 9, transport: section.transport)
        answer.mid = mid
        answer.payloads = choice.formats
        answer.attributes.direction = direction
        answer.attributes.extensions = maps
        answer.attributes.allowsMixedExtensions = section.attributes.allowsMixedExtensions
        answer.hasRTCPMultiplexing = true
        answer.hasReducedSizeRTCP = section.hasReducedSizeRTCP
        if direction.receives {
            published &+= needed
            made.stream = section.streams.first
            made.sources = section.announcedSources
            made.rids = encodings(section, maps)
            for rid in section.restrictionIDs where made.rids.contains(rid.id) && rid.direction == .send {
                made.encodingLimits[rid.id] = rid.limits
            }
            answer.restrictionIDs = made.rids.map { RestrictionID($0, .recv) }
            if !made.rids.isEmpty { answer.simulcast = Simulcast(receive: made.rids.map { [.init($0)] }) }
            if let bitrate = kind == .audio ? capabilities.audioBitrate : capabilities.videoBitrate {
                answer.bandwidths = [Bandwidth("AS", max(1, bitrate / 1000)), Bandwidth("TIAS", bitrate)]
            }
        }
        return (made, answer)
    }

    /// The extensions of the answer: those of the offer that the gateway supports and that are used in this direction,
    /// with the offer's ids (RFC 8285 section 7.2).
    private func extensions(_ section: MediaSection, _ direction: Direction, mixes: Bool) -> [ExtensionMap] {
        var seen: Set<String> = []
        return section.attributes.extensions.compactMap { map in
            // 15 is reserved in one-byte headers, and ids above 14 need two-byte headers (RFC 8285 section 4.2).
            guard capabilities.extensions.contains(map.uri),
                (1...14).contains(map.id) || mixes && (16...255).contains(map.id)
            else { return nil }
            let own = (map.direction ?? .sendReceive).reversed
            let isUsed =
                own.receives && direction.receives || own.sends && direction.sends || direction == .inactive
            // Only clients send the encoding of a packet: a slot has one encoding.
            let isOfEncodings =
                map.uri == ExtensionURI.rid || map.uri == ExtensionURI.repairedRID
                || map.uri == ExtensionURI.layersAllocation
            guard isUsed, !isOfEncodings || own.receives && direction.receives, seen.insert(map.uri).inserted else {
                return nil
            }
            return ExtensionMap(map.id, map.uri, direction: map.direction?.reversed)
        }
    }

    /// The rids that are accepted (RFC 8853 section 5.3.2), the first alternative of each stream. None unless every
    /// packet can carry its rid.
    private func encodings(_ section: MediaSection, _ maps: [ExtensionMap]) -> [String] {
        guard let streams = section.simulcast?.send, maps.contains(where: { $0.uri == ExtensionURI.rid }),
            maps.contains(where: { $0.uri == ExtensionURI.mid })
        else { return [] }
        let sent = Set(section.restrictionIDs.lazy.filter { $0.direction == .send }.map(\.id))
        var seen: Set<String> = []
        let rids = streams.compactMap { $0.first?.rid }.filter { sent.contains($0) && seen.insert($0).inserted }
        return rids.count > 1 ? Array(rids.prefix(capabilities.maximumEncodings)) : []
    }
}

extension MediaSection {
    /// The same section, rejected (RFC 3264 section 6): port 0, and one format, which is mandatory.
    var rejecting: MediaSection {
        var answer = MediaSection(kind: kind, port: 0, transport: transport)
        answer.formats = formats
        if let first = payloads.first {
            var payload = PayloadFormat(first.payloadType, first.encoding)
            payload.parameters = nil
            answer.payloads = [payload]
        }
        answer.mid = mid
        answer.attributes.direction = .inactive
        return answer
    }
}
