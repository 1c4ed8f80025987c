/// Why a section was answered with port 0.
package enum SectionRejection: Hashable, Sendable, CustomStringConvertible {
    /// The offer rejects it: it was stopped.
    case stopped
    /// It is neither audio nor video.
    case kind(String)
    case transport(String)
    case notBundled
    /// None of the codecs in it can be forwarded; the codecs in words.
    case codecs(offered: String, accepted: String)

    package var description: String {
        switch self {
        case .stopped: "the offer rejects it"
        case .kind(let kind): "\(kind) is not forwarded"
        case .transport(let transport): "\(transport) is not supported"
        case .notBundled: "it is not in the BUNDLE group"
        case .codecs(let offered, let accepted):
            "no codec of this call is offered in it: it has \(offered), and accepted are \(accepted)"
        }
    }
}

extension SectionRejection {
    /// More codecs of an offer than this are not listed.
    private static let maximumCount = 12

    static func codecs(of section: MediaSection, accepted: Set<MediaCodec>) -> SectionRejection {
        var offered: [String] = []
        for payload in section.payloads where offered.count < maximumCount {
            let name = payload.label
            if let name, !offered.contains(name) { offered.append(name) }
        }
        return .codecs(
            offered: offered.isEmpty ? "none" : offered.joined(separator: ", "),
            accepted: accepted.compactMap(\.label).sorted().joined(separator: ", "))
    }
}

extension MediaCodec {
    /// In words for people, with the setting of encoders such as OBS and FFmpeg. Nil for what cannot be alone.
    fileprivate var label: String? {
        switch self {
        case .opus: "opus"
        case .redundantAudio: nil
        case .vp8: "VP8"
        case .vp9(let profile): "VP9 (profile-id=\(profile))"
        case .h264(.constrainedBaseline, _): "H264 (profile=baseline)"
        case .h264(.main, _): "H264 (profile=main)"
        case .h264(.high, _), .h264(.constrainedHigh, _): "H264 (profile=high)"
        case .av1(let profile): "AV1 (profile=\(profile))"
        }
    }
}

extension PayloadFormat {
    /// The codec as it was offered. Nil for what only helps another one.
    fileprivate var label: String? {
        guard let encoding else { return "payload type \(payloadType)" }
        let name = String(encoding.name.prefix(32))
        switch name.lowercased() {
        case "rtx", "red", "ulpfec", "flexfec-03", "telephone-event", "cn": return nil
        case "h264":
            guard let id = parameter("profile-level-id"), id.utf8.count == 6, UInt32(id, radix: 16) != nil else {
                return name
            }
            return "\(name) (profile-level-id=\(id))"
        default: return name
        }
    }
}
