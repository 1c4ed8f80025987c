import BasicContainers
import RTP
import SDP
import Wire

// Tracks the frame size of each encoding, which determines the order of the layers.

extension GatewayEngine {
    /// Reads the frame size from the first packet of a key frame, if it is there.
    mutating func updateSize(
        _ packet: borrowing RTPPacket, _ codec: MediaCodec, _ extensions: HeaderExtensionIDs, _ stream: StreamIndex,
        at now: Instant
    ) {
        guard tracks[stream.track].encodings.count > 1 else { return }
        var hasChanged = false
        if let element = packet.element(.videoLayersAllocation, extensions), let allocation = LayersAllocation(element),
            allocation.sizes.count == tracks[stream.track].encodings.count
        {
            for (index, size) in allocation.sizes.enumerated() {
                if let size { hasChanged = setSize(size, of: stream.track, index) || hasChanged }
            }
        }
        if let size = codec.videoCodec?.pictureSize(packet.payload) {
            hasChanged = setSize(size, of: stream.track, stream.encoding) || hasChanged
        }
        if hasChanged || tracks[stream.track].isMisordered { order(stream.track, at: now) }
    }

    private mutating func setSize(_ size: PictureSize, of track: Int, _ encoding: Int) -> Bool {
        let pixels = size.pixelCount
        guard pixels > 0, tracks[track].encodings[encoding].pixelCount != pixels else { return false }
        tracks[track].encodings[encoding].pixelCount = pixels
        return true
    }

    /// Sorts the encodings of a track. Once all sizes are known, the order stays while any encoding is shown: a brief
    /// change of size is no reason to switch layers.
    mutating func order(_ track: Int, at now: Instant) {
        guard !tracks[track].order.isSettled || !isShown(track) else {
            tracks[track].isMisordered = true
            return
        }
        tracks[track].isMisordered = false
        let count = tracks[track].encodings.count
        let sizes = (0..<count).map { tracks[track].encodings[$0].pixelCount }
        let bitrates = (0..<count).map { index in
            tracks[track].encodings[index].bitrateLimit
                ?? tracks[track].encodings[index].bitrate.bitsPerSecond(at: now)
        }
        let old = tracks[track].order
        guard tracks[track].order.update(sizes: sizes, bitrates: bitrates) else { return }
        // The slots keep their encodings until the next selection.
        for subscriber in tracks[track].subscribers {
            if case .showing(_, let layer?) = legs[subscriber.leg].slots[subscriber.slot].state,
                old.encodings.indices.contains(layer)
            {
                let moved = tracks[track].order.layer(of: old.encodings[layer])
                legs[subscriber.leg].slots[subscriber.slot].select(layer: moved)
            }
            forgetLayer(of: subscriber)
        }
    }

    private func isShown(_ track: Int) -> Bool {
        tracks[track].subscribers.contains { subscriber in
            legs[subscriber.leg].slots[subscriber.slot].rewriter.source.flatMap { encodings[$0]?.track } == track
        }
    }
}

extension MediaCodec {
    /// The parser for its payloads; nil for audio.
    var videoCodec: VideoCodec? {
        switch self {
        case .opus, .redundantAudio: nil
        case .vp8: .vp8
        case .vp9: .vp9
        case .h264: .h264
        case .av1: .av1
        }
    }
}
