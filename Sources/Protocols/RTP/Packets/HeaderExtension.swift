import Wire

/// The header extensions that are forwarded or written here. SDP maps each to an id per direction of each leg
/// (RFC 8285 section 5).
package enum HeaderExtension: UInt8, CaseIterable, Hashable, Sendable {
    /// RFC 6464.
    case audioLevel
    /// RFC 9143 section 15: the media section of a packet.
    case mediaIdentification
    /// RFC 8852: the simulcast layer.
    case streamIdentification
    /// RFC 8852: the simulcast layer that a retransmission repairs.
    case repairedStreamIdentification
    /// 24 bits of seconds in 6.18 fixed point, at sending.
    case absoluteSendTime
    /// draft-holmer-rmcat-transport-wide-cc-extensions-01 section 2.
    case transportSequence
    /// AV1 RTP specification, appendix A.
    case dependencyDescriptor
    /// 3GPP TS 26.114: rotation.
    case videoOrientation
    case playoutDelay
    case videoContentType
    case videoTiming
    case colorSpace
    case absoluteCaptureTime
    case videoLayersAllocation
    /// RFC 5450.
    case transmissionOffset

    package var uri: String {
        switch self {
        case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
        case .mediaIdentification: "urn:ietf:params:rtp-hdrext:sdes:mid"
        case .streamIdentification: "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
        case .repairedStreamIdentification: "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
        case .absoluteSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
        case .transportSequence: "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
        case .dependencyDescriptor:
            "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
        case .videoOrientation: "urn:3gpp:video-orientation"
        case .playoutDelay: "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
        case .videoContentType: "http://www.webrtc.org/experiments/rtp-hdrext/video-content-type"
        case .videoTiming: "http://www.webrtc.org/experiments/rtp-hdrext/video-timing"
        case .colorSpace: "http://www.webrtc.org/experiments/rtp-hdrext/color-space"
        case .absoluteCaptureTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
        case .videoLayersAllocation: "http://www.webrtc.org/experiments/rtp-hdrext/video-layers-allocation00"
        case .transmissionOffset: "urn:ietf:params:rtp-hdrext:toffset"
        }
    }

    package init?(uri: String) {
        guard let found = Self.allCases.first(where: { $0.uri == uri }) else { return nil }
        self = found
    }

    /// True if it describes the source and is forwarded to every receiver; false if it is hop-by-hop: stripped and
    /// written anew.
    package var isEndToEnd: Bool {
        switch self {
        case .audioLevel, .dependencyDescriptor, .videoOrientation, .playoutDelay, .videoContentType, .colorSpace,
            .absoluteCaptureTime:
            true
        case .mediaIdentification, .streamIdentification, .repairedStreamIdentification, .absoluteSendTime,
            .transportSequence, .videoTiming, .videoLayersAllocation, .transmissionOffset:
            false
        }
    }
}

/// The id of each extension in one direction of one leg. 0 means that it was not negotiated.
package struct HeaderExtensionIDs: Hashable, Sendable {
    private var ids: SIMD16<UInt8> = .zero
    /// The inverse for ids below 16: the extension's raw value plus one. A fast lookup for the forwarding path.
    private var kinds: SIMD16<UInt8> = .zero
    /// Elements of two bytes may be written: `a=extmap-allow-mixed` (RFC 8285 section 6) or an id above 14.
    package var allowsTwoByte: Bool

    package init(allowsTwoByte: Bool = false) {
        self.allowsTwoByte = allowsTwoByte
    }

    package subscript(_ kind: HeaderExtension) -> UInt8 {
        get { ids[Int(kind.rawValue)] }
        set {
            let old = ids[Int(kind.rawValue)]
            ids[Int(kind.rawValue)] = newValue
            if old < 16 { kinds[Int(old)] = firstKind(of: old).map { $0.rawValue &+ 1 } ?? 0 }
            if newValue < 16 { kinds[Int(newValue)] = firstKind(of: newValue).map { $0.rawValue &+ 1 } ?? 0 }
        }
    }

    package func kind(of id: UInt8) -> HeaderExtension? {
        guard id < 16 else { return firstKind(of: id) }
        let code = kinds[Int(id)]
        return code == 0 ? nil : HeaderExtension(rawValue: code &- 1)
    }

    private func firstKind(of id: UInt8) -> HeaderExtension? {
        guard id != 0 else { return nil }
        for index in 0..<HeaderExtension.allCases.count where ids[index] == id {
            return HeaderExtension(rawValue: UInt8(truncatingIfNeeded: index))
        }
        return nil
    }
}

extension RTPPacket {
    @_lifetime(copy self)
    package func element(_ kind: HeaderExtension, _ ids: HeaderExtensionIDs) -> RawSpan? {
        let id = ids[kind]
        return id == 0 ? nil : element(id)
    }

    package func transportSequence(_ ids: HeaderExtensionIDs) -> UInt16? {
        element(.transportSequence, ids)?.integer(at: 0, as: UInt16.self)
    }

    /// 24 bits: seconds modulo 64, in units of 2^-18 s.
    package func absoluteSendTime(_ ids: HeaderExtensionIDs) -> UInt32? {
        guard let value = element(.absoluteSendTime, ids), value.byteCount == 3,
            let high = value.integer(at: 0, as: UInt16.self), let low = value.byte(at: 2)
        else { return nil }
        return UInt32(high) << 8 | UInt32(low)
    }

    package func audioLevel(_ ids: HeaderExtensionIDs) -> AudioLevel? {
        element(.audioLevel, ids)?.byte(at: 0).map(AudioLevel.init(byte:))
    }
}

/// RFC 6464 section 3: the audio level of a packet, and whether its sender detected speech.
package struct AudioLevel: Hashable, Sendable {
    /// 0 is the loudest, 127 silence: dB below full scale.
    package let below: UInt8
    package let isVoice: Bool

    package init(below: UInt8, isVoice: Bool) {
        self.below = below & 0x7F
        self.isVoice = isVoice
    }

    package init(byte: UInt8) {
        self.init(below: byte, isVoice: byte & 0x80 != 0)
    }

    package var byte: UInt8 { below | (isVoice ? 0x80 : 0) }
    package static let silence = AudioLevel(below: 127, isVoice: false)
}
