package import Gateway
package import RTP

/// A tapped track of a call, from its first packet to its end.
package struct TappedTrack: Hashable, Sendable {
    /// Unique within the recorder for ever.
    package let number: UInt64
    package let name: TrackName

    package init(number: UInt64, name: TrackName) {
        self.number = number
        self.name = name
    }
}

/// Receives the audio of a call, besides its recording. The recorder is blocked during the calls: they must be brief.
package protocol AudioSink: Sendable {
    /// Packets come as they arrived at the gateway: reordered, and with losses.
    func receive(_ packet: AudioPacket, on track: TappedTrack)
    func ended(_ track: TappedTrack)
}
