import BasicContainers
import RTP
import SDP
import Wire

// Taps: the audio packets of some calls are also copied to recorders and transcribers, as they arrive.

extension GatewayEngine {
    /// Starts or stops passing the call's audio to the outbox, including that of participants who join later.
    package mutating func tap(_ call: String, isOn: Bool, into outbox: inout some GatewayOutbox & ~Copyable) {
        if isOn { tappedCalls.insert(call) } else { tappedCalls.remove(call) }
        guard let callIndex = callIndices[call] else { return }
        calls[callIndex].isTapped = isOn
        guard !isOn else { return }
        for leg in calls[callIndex].legs {
            for track in legs[leg].tracks { endTaps(ofTrack: track) }
        }
        notifyEndedTaps(into: &outbox)
    }

    mutating func tap(
        _ packet: borrowing RTPPacket, _ codec: MediaCodec, _ stream: StreamIndex, at now: Instant,
        into outbox: inout some GatewayOutbox & ~Copyable
    ) {
        guard packet.payload.byteCount > 0 else { return }
        let number = tracks[stream.track].encodings[stream.encoding].number
        let last = tracks[stream.track].encodings[stream.encoding].tapped
        if last == nil {
            let call = calls[legs[tracks[stream.track].leg].call].name
            outbox.tapBegan(
                TappedSource(
                    number: number, call: call, track: tracks[stream.track].name,
                    isStereo: tracks[stream.track].isStereo))
        }
        let step = last.map { Int(Int16(truncatingIfNeeded: packet.sequence &- $0)) } ?? 1
        if step > 0 { tracks[stream.track].encodings[stream.encoding].tapped = packet.sequence }
        guard codec == .redundantAudio else {
            outbox.tap(
                packet.payload,
                TappedPacket(source: number, sequence: packet.sequence, timestamp: packet.timestamp, arrival: now))
            return
        }
        RedundantAudio.visit(packet.payload) { block in
            // Older blocks are only needed if their packets are missing.
            guard block.age == 0 || Int(block.age) < step else { return }
            let older = TappedPacket(
                source: number, sequence: packet.sequence &- block.age,
                timestamp: packet.timestamp &- block.timestampOffset, arrival: now)
            outbox.tap(packet.payload.extracting(block.range), older)
        }
    }

    mutating func endTaps(ofTrack track: Int) {
        for index in 0..<tracks[track].encodings.count where tracks[track].encodings[index].tapped != nil {
            tracks[track].encodings[index].tapped = nil
            endedTaps.append(tracks[track].encodings[index].number)
        }
    }

    mutating func notifyEndedTaps(into outbox: inout some GatewayOutbox & ~Copyable) {
        guard !endedTaps.isEmpty else { return }
        for number in endedTaps { outbox.tapEnded(number) }
        endedTaps = []
    }
}
