import RTP
import Wire

/// Finds the route of a received packet: by its SSRC, if that was announced, and otherwise by its mid or payload type
/// (RFC 9143 section 9.2).
struct EchoDemultiplexer {
    struct Target: Hashable, Sendable {
        /// The index of the route.
        let index: Int
        /// The packet is a retransmission (RFC 4588).
        let isRepair: Bool
    }

    /// The maximum number of SSRCs that were not announced.
    private static let learnedLimit = 64

    private let routes: [EchoRoute]
    private let extensions: HeaderExtensionIDs
    private var targets: [UInt32: Target] = [:]
    private var learned = 0

    init(_ routes: [EchoRoute], _ extensions: HeaderExtensionIDs) {
        self.routes = routes
        self.extensions = extensions
        for (index, route) in routes.enumerated() {
            for source in route.sources {
                targets[source.ssrc] = Target(index: index, isRepair: false)
                if let repair = source.retransmission { targets[repair] = Target(index: index, isRepair: true) }
            }
        }
    }

    mutating func target(of packet: borrowing RTPPacket) -> Target? {
        if let known = targets[packet.ssrc] { return known }
        var mid: String?
        if let value = packet.element(.mediaIdentification, extensions) {
            mid = String(decoding: value.copyToArray(), as: UTF8.self)
        }
        let type = packet.payloadType
        let candidates = routes.indices.filter { index in
            (mid == nil || routes[index].receivedMID == mid)
                && (routes[index].codec(type) != nil || routes[index].codec(retransmittedAs: type) != nil)
        }
        guard candidates.count == 1, let index = candidates.first else { return nil }
        let target = Target(index: index, isRepair: routes[index].codec(type) == nil)
        if learned < Self.learnedLimit {
            learned += 1
            targets[packet.ssrc] = target
        }
        return target
    }
}
