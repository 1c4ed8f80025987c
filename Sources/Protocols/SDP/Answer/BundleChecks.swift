/// The meaning of payload types and extension ids, which must be the same in every section of a bundle and in every
/// offer of a leg (RFC 9143 section 9.1, RFC 8285 section 7.2, RFC 3264 section 8.3.2): packets of all sections come to
/// one port, and some are still in flight when an offer changes them.
struct BundleMappings: Hashable, Sendable {
    private var encodings: [UInt8: String] = [:]
    private var extensions: [UInt16: String] = [:]

    mutating func add(_ section: MediaSection) -> OfferError.Reason? {
        for payload in section.payloads {
            guard let encoding = payload.encoding else { continue }
            let meaning = "\(encoding.name.lowercased())/\(encoding.clockRate)"
            guard encodings[payload.payloadType].map({ $0 == meaning }) ?? true else {
                return .payloadTypeChanged(payload.payloadType)
            }
            encodings[payload.payloadType] = meaning
        }
        for map in section.attributes.extensions {
            guard extensions[map.id].map({ $0 == map.uri }) ?? true else { return .extensionChanged(map.id) }
            extensions[map.id] = map.uri
        }
        return nil
    }
}

extension MediaSection {
    /// The sources that the client announces, each with that of its retransmissions.
    var announcedSources: [AnnouncedSource] {
        var retransmissions: [UInt32: UInt32] = [:]
        var repairing: Set<UInt32> = []
        for group in sourceGroups where group.semantics == "FID" {
            guard group.ssrcs.count == 2, let first = group.ssrcs.first, let second = group.ssrcs.last else { continue }
            retransmissions[first] = second
            repairing.insert(second)
        }
        var seen: Set<UInt32> = []
        var sources: [AnnouncedSource] = []
        for source in self.sources where sources.count < 16 && !repairing.contains(source.ssrc) {
            guard seen.insert(source.ssrc).inserted else { continue }
            sources.append(AnnouncedSource(ssrc: source.ssrc, retransmission: retransmissions[source.ssrc]))
        }
        return sources
    }
}
