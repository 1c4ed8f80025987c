package import Gateway
package import RTP

/// A track of a call that is heard, from its first packet to its end.
package struct HeardTrack: Hashable, Sendable {
    /// Tells it apart from every other that the recorder ever had.
    package let number: UInt64
    package let name: TrackName

    package init(number: UInt64, name: TrackName) {
        self.number = number
        self.name = name
    }
}

/// Hears what is said in a call, beside its recording. The recorder calls it, and hears nobody meanwhile: it must be
/// brief.
package protocol SoundListener: Sendable {
    /// Packets come as they came to the gateway: in no order, and not all of them.
    func heard(_ packet: SoundPacket, on track: HeardTrack)
    func ended(_ track: HeardTrack)
}
