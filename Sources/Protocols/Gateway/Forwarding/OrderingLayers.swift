import BasicContainers
import RTP
import SDP
import Wire

// How large the pictures of each encoding are, from which follows which is the better one.

extension GatewayEngine {
    /// A packet with which a picture begins: it may say how large it is.
    mutating func noteSize(
        _ packet: borrowing RTPPacket, _ codec: MediaCodec, _ extensions: HeaderExtensionIDs, _ stream: StreamPlace,
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
        if let size = codec.pictures?.pictureSize(packet.payload) {
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

    /// Puts the encodings of a track in order. Once that rests on sizes alone, it is left as it is while any is shown: a
    /// picture that changes its size for a moment is no reason to show others another one.
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
        // What is shown goes on until the layers are chosen anew.
        for place in tracks[track].subscribers {
            if let layer = legs[place.leg].slots[place.slot].layer, old.encodings.indices.contains(layer) {
                legs[place.leg].slots[place.slot].layer = tracks[track].order.layer(of: old.encodings[layer])
            }
            forgetLayer(of: place)
        }
    }

    private func isShown(_ track: Int) -> Bool {
        tracks[track].subscribers.contains { place in
            legs[place.leg].slots[place.slot].rewriter.source.flatMap { encodings[$0]?.track } == track
        }
    }
}

extension MediaCodec {
    /// As payloads are read; nil for sound.
    var pictures: VideoCodec? {
        switch self {
        case .opus, .redundantAudio: nil
        case .vp8: .vp8
        case .vp9: .vp9
        case .h264: .h264
        case .av1: .av1
        }
    }
}
