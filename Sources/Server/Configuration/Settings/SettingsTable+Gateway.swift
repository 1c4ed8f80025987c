import SDP
import SecureMedia

extension SettingsTable {
    /// The media gateway.
    struct Gateway: Sendable {
        let port = Setting<Int>(
            "gateway.port", default: 3480, in: SettingsTable.ports,
            "First UDP port of the media gateway; each of its threads has one, in a row. 0: any that are free.")
        let srtpProfiles = Setting<[String]>(
            "gateway.srtpProfiles", default: SRTPProfile.preferred.map(\.name),
            "How media may be encrypted between clients and the gateway, the preferred profile first.")
        let videoCodecs = Setting<[String]>(
            "gateway.videoCodecs", default: MediaCodec.videoNames,
            "Video codecs of calls through the gateway: VP8, and others, which are used where everybody has them.")
        let workers = Setting<Int>(
            "gateway.workers", default: 0, in: 0...256,
            "Threads of the gateway; 0: one for each core.")
        let limits = GatewayLimits()
    }

    /// Limits of published tracks.
    struct GatewayLimits: Sendable {
        let trackBitsPerSecond = Setting<Int>(
            "gateway.limits.trackBitsPerSecond", default: 20_000_000, in: SettingsTable.rates,
            "Bits a second of each published track, with all its encodings; more is dropped. 0: no limit.")
        let trackPacketsPerSecond = Setting<Int>(
            "gateway.limits.trackPacketsPerSecond", default: 3_000, in: SettingsTable.rates,
            "Packets a second of each published track; more are dropped. 0: no limit.")
    }
}
