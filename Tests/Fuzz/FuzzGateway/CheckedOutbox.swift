import Gateway
import RTP
import SDP
import Wire

/// Looks at everything that the engine sends.
struct CheckedOutbox: GatewayOutbox {
    private struct Stream: Hashable {
        let leg: LegID
        let ssrc: UInt32
        let sequence: UInt16
    }

    private var sources: [LegID: Set<UInt32>] = [:]
    private var slots: [LegID: [UInt32]] = [:]
    private var used: Set<Stream> = []
    private var tapped: Set<UInt32> = []
    private let buffer = PacketBuffer()
    private var sender: LegID?
    private var target: LegID?
    private(set) var sent = 0
    private(set) var lastSequence: UInt16?

    mutating func begin(from leg: LegID?) {
        sender = leg
        sent = 0
    }

    mutating func admit(_ leg: LegID, _ shape: NegotiatedLeg) {
        let identities = shape.sections.compactMap(\.slot)
        sources[leg] = Set(identities.flatMap { [$0.ssrc, $0.retransmissionSSRC] })
        slots[leg] = identities.map(\.ssrc)
    }

    mutating func dismiss(_ leg: LegID) {
        sources[leg] = nil
        slots[leg] = nil
        used = used.filter { $0.leg != leg }
    }

    func slot(of leg: LegID, _ index: Int) -> UInt32? {
        guard let all = slots[leg], !all.isEmpty else { return nil }
        return all[index % all.count]
    }

    mutating func reserve(for leg: LegID) -> UnsafeMutableRawBufferPointer? {
        guard sources[leg] != nil else { fatalError("a packet to a leg that is not there") }
        target = leg
        return buffer.bytes
    }

    mutating func commit(_ byteCount: Int, isVideo: Bool) -> Bool {
        guard let target, byteCount <= buffer.bytes.count else { fatalError("a packet that nobody reserved") }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<byteCount])
        guard let packet = try? RTPPacket(bytes.bytes) else { fatalError("no RTP came out") }
        guard sources[target]?.contains(packet.ssrc) ?? false else { fatalError("a source that the leg does not know") }
        guard used.insert(Stream(leg: target, ssrc: packet.ssrc, sequence: packet.sequence)).inserted else {
            fatalError("a number was used twice")
        }
        lastSequence = packet.sequence
        // Retransmissions are requested by their receiver.
        let isRepair = slots[target].map { !$0.contains(packet.ssrc) } ?? false
        if target == sender, !isRepair { fatalError("a packet went back to its sender") }
        if !isRepair { sent += 1 }
        return true
    }

    mutating func sendReport(_ bytes: borrowing [UInt8], to leg: LegID) {
        guard sources[leg] != nil else { fatalError("a report to a leg that is not there") }
        guard (try? RTCPCompound(bytes.span.bytes)) != nil, bytes.count <= 1200 else { fatalError("no RTCP came out") }
    }

    mutating func tapBegan(_ source: TappedSource) {
        guard tapped.insert(source.number).inserted else { fatalError("a source began twice") }
    }

    mutating func tap(_ payload: RawSpan, _ packet: TappedPacket) {
        guard tapped.contains(packet.source) else { fatalError("a packet of a source that nobody was told of") }
        guard payload.byteCount > 0 else { fatalError("a packet with nothing in it") }
    }

    mutating func tapEnded(_ source: UInt32) {
        guard tapped.remove(source) != nil else { fatalError("a source ended that was not there") }
    }

    mutating func show(_ shown: [ShownSlot], on leg: LegID) {
        let tracks = shown.compactMap(\.track)
        guard Set(tracks).count == tracks.count else { fatalError("a track is shown twice") }
    }
}

/// What participants have: tracks and slots.
enum Shape {
    static let all: [NegotiatedLeg] = [
        negotiated([audio(11), video("a=ssrc:33 cname:c"), slot("audio"), slot("video")]),
        negotiated([audio(22), slot("audio"), slot("audio"), slot("video")]),
        negotiated([video("a=rid:q send\r\na=rid:r send\r\na=simulcast:send q;r"), slot("video"), slot("video")]),
        negotiated([slot("audio"), slot("video"), slot("video")]),
    ]

    /// The same for as long as nothing is to be sent to its slots.
    static func withInactiveSlots(_ shape: NegotiatedLeg) -> NegotiatedLeg {
        var shape = shape
        for index in shape.sections.indices where shape.sections[index].slot != nil {
            shape.sections[index].direction = .inactive
            shape.sections[index].slot = nil
        }
        return shape
    }

    private static func audio(_ ssrc: Int) -> (String, String, String) {
        ("audio", "sendonly", "a=ssrc:\(ssrc) cname:c")
    }
    private static func video(_ more: String) -> (String, String, String) { ("video", "sendonly", more) }
    private static func slot(_ kind: String) -> (String, String, String) { (kind, "recvonly", "a=x") }

    private static func negotiated(_ sections: [(String, String, String)]) -> NegotiatedLeg {
        var text = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=group:BUNDLE"
        for index in sections.indices { text += " \(index)" }
        text += "\r\n"
        for (index, (kind, direction, more)) in sections.enumerated() {
            let types = kind == "audio" ? "111" : "96 97"
            let codecs =
                kind == "audio"
                ? "a=rtpmap:111 opus/48000/2"
                : "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\na=rtcp-fb:96 goog-remb\r\na=rtpmap:97 rtx/90000\r\n"
                    + "a=fmtp:97 apt=96"
            text += """
                m=\(kind) 9 UDP/TLS/RTP/SAVPF \(types)\r\nc=IN IP4 0.0.0.0\r\na=mid:\(index)\r\na=rtcp-mux\r
                a=ice-ufrag:abcd\r\na=ice-pwd:abcdabcdabcdabcdabcdabcd\r\na=setup:actpass\r\na=\(direction)\r
                a=fingerprint:sha-256 \([String](repeating: "AA", count: 32).joined(separator: ":"))\r
                a=extmap:1 \(HeaderExtension.mediaIdentification.uri)\r
                a=extmap:2 \(HeaderExtension.streamIdentification.uri)\r
                a=extmap:3 \(HeaderExtension.transportSequence.uri)\r
                a=extmap:4 \(HeaderExtension.absoluteSendTime.uri)\r\n\(codecs)\r\n\(more)\r\n
                """
        }
        var negotiation = LegNegotiation(session: 1)
        var next: UInt32 = 900_000
        let transport = GatewayTransport(
            fingerprints: [FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 9, count: 32))],
            candidates: [], freshCredentials: ICECredentials(ufrag: "gate", password: "gatewaygatewaygatewayga"))
        do {
            return try negotiation.answer(
                SessionDescription(parsing: text), GatewayCapabilities(), transport,
                newSlot: { kind in
                    next += 2
                    return SlotIdentity(
                        ssrc: next, retransmissionSSRC: next + 1, cname: "g", stream: "s", track: "\(kind)\(next)")
                })
        } catch {
            fatalError("the harness's own offer: \(error)")
        }
    }
}

/// Where a packet is written.
private final class PacketBuffer {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)

    deinit { bytes.deallocate() }
}
