import Gateway
import RTP
import SDP
import Wire

/// A client's offer: what it sends and how many slots it requests. Payload types and extension ids are its own.
struct Client {
    /// An audio track's SSRC, video tracks with theirs, or with rids instead.
    var audio: UInt32?
    var video: [UInt32] = []
    var rids: [String] = []
    /// The restrictions in `a=rid`.
    var restrictions: [String: String] = [:]
    /// It uses transport-wide feedback; otherwise REMB, and its packets have send times.
    var hasTransportFeedback = true
    var audioSlots = 2
    /// The sections of its slots are `inactive`.
    var hasInactiveSlots = false
    var videoSlots = 2
    /// Sections like that with rids behind it.
    var repeatedSections = 0
    var opus: UInt8 = 111
    /// It sends two channels.
    var isStereo = false
    /// Redundant audio, when it has that.
    var red: UInt8?
    var vp8: UInt8 = 96
    var rtx: UInt8 = 97
    /// AV1, when it has that.
    var av1: UInt8?
    var extensionBase: UInt16 = 1
    var sources: [String: TrackSource] = [:]

    var midID: UInt8 { UInt8(extensionBase) }
    var ridID: UInt8 { UInt8(extensionBase + 1) }
    var transportID: UInt8 { UInt8(extensionBase + 2) }
    var levelID: UInt8 { UInt8(extensionBase + 3) }
    var allocationID: UInt8 { UInt8(extensionBase + 5) }
    var sendTimeID: UInt8 { UInt8(extensionBase + 6) }
    var descriptorID: UInt8 { UInt8(extensionBase + 4) }

    /// The header extensions by which a packet of the section with simulcast says which of `rids` it belongs to.
    func named(_ rid: String) -> [(UInt8, [UInt8])] {
        [(midID, Array("\(audio == nil ? 0 : 1)".utf8)), (ridID, Array(rid.utf8))]
    }

    func negotiate() throws -> NegotiatedLeg {
        var negotiation = LegNegotiation(session: 1)
        var next: UInt32 = 900_000
        let transport = GatewayTransport(
            fingerprints: [FingerprintAttribute(algorithm: "sha-256", digest: [UInt8](repeating: 9, count: 32))],
            candidates: [],
            freshCredentials: ICECredentials(ufrag: "gate", password: "gatewaygatewaygatewayga"))
        var capabilities = GatewayCapabilities()
        capabilities.videoCodecs = MediaCodec.forwardedVideo
        return try negotiation.answer(
            SessionDescription(parsing: offer), capabilities, transport,
            newSlot: { kind in
                next += 2
                return SlotIdentity(
                    ssrc: next, retransmissionSSRC: next + 1, cname: "gateway", stream: "s\(next)", track: "\(kind)")
            })
    }

    /// The mids: tracks first, then slots.
    var offer: String {
        var sections: [String] = []
        func add(_ kind: String, _ direction: String, _ own: [String]) {
            let more = (kind == "audio" ? red : av1).map { " \($0)" } ?? ""
            let types = (kind == "audio" ? "\(opus)" : "\(vp8) \(rtx)") + more
            var lines = [
                "m=\(kind) 9 UDP/TLS/RTP/SAVPF \(types)", "c=IN IP4 0.0.0.0", "a=mid:\(sections.count)",
                "a=rtcp-mux", "a=rtcp-rsize", "a=ice-ufrag:abcd", "a=ice-pwd:abcdabcdabcdabcdabcdabcd",
                "a=fingerprint:sha-256 " + [String](repeating: "AA", count: 32).joined(separator: ":"),
                "a=setup:actpass", "a=\(direction)",
                "a=extmap:\(extensionBase) \(HeaderExtension.mediaIdentification.uri)",
                "a=extmap:\(extensionBase + 1) \(HeaderExtension.streamIdentification.uri)",
                "a=extmap:\(extensionBase + 3) \(HeaderExtension.audioLevel.uri)",
                hasTransportFeedback
                    ? "a=extmap:\(extensionBase + 2) \(HeaderExtension.transportSequence.uri)"
                    : "a=extmap:\(extensionBase + 6) \(HeaderExtension.absoluteSendTime.uri)",
            ]
            if kind == "audio" {
                lines.append("a=rtpmap:\(opus) opus/48000/2")
                if isStereo { lines.append("a=fmtp:\(opus) stereo=1;sprop-stereo=1") }
                if let red {
                    lines += ["a=rtpmap:\(red) red/48000/2", "a=fmtp:\(red) \(opus)/\(opus)"]
                }
            } else {
                lines += [
                    "a=rtpmap:\(vp8) VP8/90000", "a=rtcp-fb:\(vp8) nack", "a=rtcp-fb:\(vp8) nack pli",
                    "a=rtcp-fb:\(vp8) \(hasTransportFeedback ? "transport-cc" : "goog-remb")",
                    "a=rtpmap:\(rtx) rtx/90000", "a=fmtp:\(rtx) apt=\(vp8)",
                    "a=extmap:\(extensionBase + 4) \(HeaderExtension.dependencyDescriptor.uri)",
                    "a=extmap:\(extensionBase + 5) \(HeaderExtension.videoLayersAllocation.uri)",
                ]
                if let av1 { lines.append("a=rtpmap:\(av1) AV1/90000") }
            }
            sections.append((lines + own).joined(separator: "\r\n"))
        }
        if let audio { add("audio", "sendonly", ["a=ssrc:\(audio) cname:c"]) }
        for ssrc in video { add("video", "sendonly", ["a=ssrc:\(ssrc) cname:c"]) }
        for _ in 0...repeatedSections where !rids.isEmpty {
            add(
                "video", "sendonly",
                rids.map { "a=rid:\($0) send\(restrictions[$0].map { " " + $0 } ?? "")" } + [
                    "a=simulcast:send \(rids.joined(separator: ";"))"
                ])
        }
        let direction = hasInactiveSlots ? "inactive" : "recvonly"
        for _ in 0..<audioSlots { add("audio", direction, []) }
        for _ in 0..<videoSlots { add("video", direction, []) }
        let mids = sections.indices.map(String.init).joined(separator: " ")
        return (["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE \(mids)"] + sections)
            .joined(separator: "\r\n") + "\r\n"
    }

    // MARK: Packets

    /// - Parameter level: dB below full scale.
    func speech(_ sequence: UInt16, timestamp: UInt32, transport: UInt16? = nil, level: UInt8? = nil) -> [UInt8] {
        let elements = [transport.map { (transportID, $0.bigEndianBytes) }, level.map { (levelID, [$0]) }]
        return packet(
            opus, sequence, timestamp, audio ?? 0, payload: [0x78, UInt8(truncatingIfNeeded: sequence), 2, 3],
            elements: elements.compactMap(\.self))
    }

    /// A packet of VP8 (RFC 7741): start of a frame, with a picture id of 15 bits.
    func frame(
        _ sequence: UInt16, timestamp: UInt32, ssrc: UInt32, picture: UInt16, isKey: Bool = false,
        elements: [(UInt8, [UInt8])] = []
    ) -> [UInt8] {
        let descriptor: [UInt8] = [0x90, 0x80] + (0x8000 | picture).bigEndianBytes
        return packet(
            vp8, sequence, timestamp, ssrc, marker: true, payload: descriptor + [isKey ? 0x00 : 0x01, 7, 7, 7],
            elements: elements)
    }

    /// One packet of a frame of VP8 that is made of several. Its last byte is the layer.
    func part(
        _ sequence: UInt16, timestamp: UInt32, ssrc: UInt32, picture: UInt16, bytes: Int, isKey: Bool, isFirst: Bool,
        isLast: Bool, elements: [(UInt8, [UInt8])], layer: UInt8, width: UInt16? = nil
    ) -> [UInt8] {
        let descriptor: [UInt8] = [isFirst ? 0x90 : 0x80, 0x80] + (0x8000 | picture & 0x7FFF).bigEndianBytes
        var body = [isKey ? 0x00 : 0x01] + [UInt8](repeating: 7, count: max(bytes - 6, 1)) + [layer]
        if let width, isKey, isFirst, body.count > 10 {
            // RFC 6386 section 9.1: the start code, and twice two bytes, the low one first.
            body.replaceSubrange(
                3..<10, with: [0x9D, 0x01, 0x2A] + width.byteSwapped.bigEndianBytes + width.byteSwapped.bigEndianBytes)
        }
        return packet(
            vp8, sequence, timestamp, ssrc, marker: isLast, payload: descriptor + body, elements: elements)
    }

    /// The same of AV1.
    func frameOfAV1(
        _ sequence: UInt16, timestamp: UInt32, ssrc: UInt32, elements: [(UInt8, [UInt8])]
    ) -> [UInt8] {
        packet(av1 ?? 0, sequence, timestamp, ssrc, marker: true, payload: [0x10, 7, 7, 7], elements: elements)
    }

    /// The dependency descriptor of a frame in one packet, with as much of the structure as is looked at.
    func numbered(_ frame: UInt16, isKey: Bool = false) -> [(UInt8, [UInt8])] {
        [(descriptorID, [0xC0] + frame.bigEndianBytes + (isKey ? [0x80] : []))]
    }

    func packet(
        _ type: UInt8, _ sequence: UInt16, _ timestamp: UInt32, _ ssrc: UInt32, marker: Bool = false,
        payload: [UInt8], elements: [(UInt8, [UInt8])] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = [elements.isEmpty ? 0x80 : 0x90, type | (marker ? 0x80 : 0)]
        bytes += sequence.bigEndianBytes + timestamp.bigEndianBytes + ssrc.bigEndianBytes
        if !elements.isEmpty {
            var block = elements.flatMap { [$0.0 << 4 | UInt8($0.1.count - 1)] + $0.1 }
            while block.count % 4 != 0 { block.append(0) }
            bytes += [0xBE, 0xDE] + UInt16(block.count / 4).bigEndianBytes + block
        }
        return bytes + payload
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
