/// The kinds of media that the gateway forwards.
package enum MediaKind: String, Hashable, Sendable, CaseIterable {
    case audio
    case video
}

/// A codec with the parameters that two clients must agree on: media cannot be forwarded between codecs that differ.
package enum MediaCodec: Hashable, Sendable {
    case opus
    /// RFC 2198 around Opus.
    case redundantAudio
    case vp8
    case vp9(profile: UInt8)
    case h264(H264Profile, packetizationMode: UInt8)
    case av1(profile: UInt8)

    package enum H264Profile: Hashable, Sendable {
        case constrainedBaseline
        case main
        case constrainedHigh
        case high

        /// From `profile-level-id`, RFC 6184 section 8.1: the profile, its constraints, and the level.
        ///
        /// Baseline counts as constrained baseline: no encoder uses what it has beyond that, and FFmpeg leaves out the
        /// bit that says so.
        init?(profileLevelID value: UInt32) {
            let constraints = UInt8(truncatingIfNeeded: value >> 8)
            switch value >> 16 {
            case 0x42: self = .constrainedBaseline
            case 0x4D: self = constraints & 0x80 != 0 ? .constrainedBaseline : .main
            case 0x64: self = constraints & 0x0C == 0x0C ? .constrainedHigh : .high
            default: return nil
            }
        }
    }

    /// Nil for unknown codecs, and for retransmissions and the like, which are not codecs.
    init?(_ format: PayloadFormat) {
        guard let encoding = format.encoding else { return nil }
        switch (encoding.name.lowercased(), encoding.clockRate) {
        case ("opus", 48000): self = .opus
        case ("red", 48000): self = .redundantAudio
        case ("vp8", 90000): self = .vp8
        case ("vp9", 90000):
            guard let profile = (format.parameter("profile-id") ?? "0").number(as: UInt8.self) else { return nil }
            self = .vp9(profile: profile)
        case ("av1", 90000):
            guard let profile = (format.parameter("profile") ?? "0").number(as: UInt8.self) else { return nil }
            self = .av1(profile: profile)
        case ("h264", 90000):
            guard let h264 = H264Format(format), let profile = H264Profile(profileLevelID: h264.profileLevelID)
            else { return nil }
            // Who receives mode 1 receives the packets of mode 0 too (RFC 6184 section 5.4).
            self = .h264(profile, packetizationMode: max(h264.packetizationMode, 1))
        default: return nil
        }
    }

    /// The parameters of `fmtp` that an answer repeats, because they identify the codec.
    var identifyingParameters: [String] {
        switch self {
        case .opus, .redundantAudio, .vp8: []
        case .vp9: ["profile-id"]
        case .h264: ["level-asymmetry-allowed", "packetization-mode", "profile-level-id"]
        case .av1: ["profile", "level-idx", "tier"]
        }
    }
}

/// The parameters of H.264 (RFC 6184 section 8.1).
struct H264Format {
    let packetizationMode: UInt8
    let profileLevelID: UInt32

    /// Nil if they are malformed.
    init?(_ format: PayloadFormat) {
        // The defaults are those of the section: single NAL units, and level 1 of baseline.
        let id = format.parameter("profile-level-id") ?? "42000a"
        guard let mode = (format.parameter("packetization-mode") ?? "0").number(as: UInt8.self), id.utf8.count == 6,
            let value = UInt32(id, radix: 16)
        else { return nil }
        packetizationMode = mode
        profileLevelID = value
    }

    /// How far it is from constrained baseline in packetization mode 1, which all browsers support; 0 is that itself.
    var distance: Int {
        (packetizationMode == 0 ? 2 : 0) + (profileLevelID >> 16 == 0x42 && profileLevelID & 0x4000 == 0 ? 1 : 0)
    }
}

/// The RTCP feedback that a receiver may send (RFC 4585 section 4.2, RFC 5104 section 7.1, and two of libwebrtc's).
package struct MediaFeedback: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let nack = MediaFeedback(rawValue: 1)
    package static let pictureLoss = MediaFeedback(rawValue: 2)
    package static let fullIntraRequest = MediaFeedback(rawValue: 4)
    package static let transportWide = MediaFeedback(rawValue: 8)
    package static let receiverEstimatedBitrate = MediaFeedback(rawValue: 16)

    static let names: [(MediaFeedback, String)] = [
        (.receiverEstimatedBitrate, "goog-remb"), (.transportWide, "transport-cc"), (.fullIntraRequest, "ccm fir"),
        (.nack, "nack"), (.pictureLoss, "nack pli"),
    ]

    init(_ lines: [String]) {
        self.init()
        for (feedback, name) in Self.names where lines.contains(name) { insert(feedback) }
    }

    var lines: [String] {
        Self.names.filter { contains($0.0) }.map(\.1)
    }
}

/// The header extensions that this module uses; it handles every other as a URI only.
package enum ExtensionURI {
    package static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
    package static let mid = "urn:ietf:params:rtp-hdrext:sdes:mid"
    package static let rid = "urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id"
    package static let repairedRID = "urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id"
    package static let absoluteSendTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
    package static let transportWide =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    package static let dependencyDescriptor =
        "https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"
    package static let videoOrientation = "urn:3gpp:video-orientation"
    package static let absoluteCaptureTime = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
    package static let colorSpace = "http://www.webrtc.org/experiments/rtp-hdrext/color-space"
    package static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    package static let layersAllocation = "http://www.webrtc.org/experiments/rtp-hdrext/video-layers-allocation00"
}
