/// Which payload types of an offered section are used, and their form in the answer: in the offer's order, which is the
/// client's order of preference.
struct PayloadChoice {
    private(set) var codecs: [NegotiatedCodec] = []
    private(set) var formats: [PayloadFormat] = []

    init(
        _ section: MediaSection, _ kind: MediaKind, _ capabilities: GatewayCapabilities, isPublished: Bool,
        hasTransportWide: Bool
    ) {
        var retransmissions: [UInt8: PayloadFormat] = [:]
        var usable = capabilities.codecs(kind)
        if isPublished, kind == .video, let common = capabilities.commonVideoCodecs {
            let offered = usable.intersection(section.payloads.compactMap { MediaCodec($0) })
            if !offered.isDisjoint(with: common) { usable.formIntersection(common) }
        }
        var chosen: [(codec: MediaCodec, payload: PayloadFormat)] = []
        for payload in section.payloads {
            if payload.encoding?.name.lowercased() == "rtx" {
                if let type = payload.parameter("apt")?.number(as: UInt8.self), retransmissions[type] == nil {
                    retransmissions[type] = payload
                }
            } else if let codec = MediaCodec(payload), usable.contains(codec) {
                // Of equal ones the client prefers the first.
                if let other = chosen.firstIndex(where: { $0.codec == codec }) {
                    guard Self.distance(payload) < Self.distance(chosen[other].payload) else { continue }
                    chosen.remove(at: other)
                }
                chosen.append((codec, payload))
            }
        }
        for (codec, payload) in chosen {
            guard let encoding = payload.encoding else { continue }
            // RED needs the codec that it repeats.
            if codec == .redundantAudio, !chosen.contains(where: { $0.codec == .opus }) { continue }
            var feedback = MediaFeedback(payload.feedback)
            if kind == .audio { feedback.formIntersection(.transportWide) }
            // Only one bandwidth estimate: the receiver's only without transport-wide feedback.
            if !hasTransportWide { feedback.remove(.transportWide) }
            if feedback.contains(.transportWide) { feedback.remove(.receiverEstimatedBitrate) }
            let retransmission = feedback.contains(.nack) ? retransmissions[payload.payloadType] : nil
            let isStereo = codec == .opus && Self.isStereo(payload, capabilities)
            codecs.append(
                NegotiatedCodec(
                    codec: codec, payloadType: payload.payloadType, clockRate: encoding.clockRate, feedback: feedback,
                    retransmission: retransmission?.payloadType, isStereo: isStereo))

            var format = PayloadFormat(payload.payloadType, encoding)
            format.feedback = feedback.lines
            format.parameters = Self.parameters(codec, payload, isStereo: isStereo, capabilities)
            formats.append(format)
            if let retransmission {
                var format = PayloadFormat(retransmission.payloadType, retransmission.encoding)
                format.parameters = "apt=\(payload.payloadType)"
                formats.append(format)
            }
        }
    }

    /// Among payloads of the same codec, those that are only counted as it have a greater distance.
    private static func distance(_ payload: PayloadFormat) -> Int {
        guard payload.encoding?.name.lowercased() == "h264" else { return 0 }
        return H264Format(payload)?.distance ?? .max
    }

    /// There is a codec besides RED.
    var isUsable: Bool {
        codecs.contains { $0.codec != .redundantAudio }
    }

    /// Whether the client is asked for two channels (RFC 7587 section 6.1). `sprop-stereo` says that it is likely to
    /// send them, `stereo` only that it would rather receive them: Firefox offers that for every microphone.
    private static func isStereo(_ payload: PayloadFormat, _ capabilities: GatewayCapabilities) -> Bool {
        payload.parameter("sprop-stereo") == "1"
            || capabilities.prefersStereo && payload.parameter("stereo") == "1"
    }

    private static func parameters(
        _ codec: MediaCodec, _ payload: PayloadFormat, isStereo: Bool, _ capabilities: GatewayCapabilities
    ) -> String? {
        switch codec {
        // Two channels are music, whose quiet passages DTX would take for silence.
        case .opus where isStereo: "minptime=10;useinbandfec=1;stereo=1"
        case .opus: "minptime=10;useinbandfec=1" + (capabilities.requestsDTX ? ";usedtx=1" : "")
        case .redundantAudio: payload.parameters
        default:
            codec.identifyingParameters.compactMap { name in
                payload.parameter(name).map { "\(name)=\($0)" }
            }.joined(separator: ";").nilIfEmpty
        }
    }
}

extension String {
    fileprivate var nilIfEmpty: String? {
        isEmpty ? nil : self
    }
}
