/// The video codecs that the gateway can forward, by their names in the configuration: of each codec the profile that
/// all its clients support.
extension MediaCodec {
    private static let named: [(name: String, codec: MediaCodec)] = [
        ("VP8", .vp8), ("VP9", .vp9(profile: 0)), ("H264", .h264(.constrainedBaseline, packetizationMode: 1)),
        ("AV1", .av1(profile: 0)),
    ]

    package static var videoNames: [String] { named.map(\.name) }
    package static var forwardedVideo: Set<MediaCodec> { Set(named.map(\.codec)) }

    /// nil when there is no codec of that name.
    package init?(videoNamed name: String) {
        guard let found = Self.named.first(where: { $0.name == name }) else { return nil }
        self = found.codec
    }
}
