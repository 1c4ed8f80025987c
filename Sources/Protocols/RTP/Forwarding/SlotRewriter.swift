package import Wire

/// What the rewriter of a slot needs to know about a packet.
package struct PacketTraits: Hashable, Sendable {
    /// A receiver can begin here: the first packet of a key frame, or any audio packet.
    package var isEntry: Bool
    package var vp8: VP8Descriptor?
    /// From the dependency descriptor, which libwebrtc also sends with codecs other than AV1.
    package var frameNumber: UInt16?
    /// Padding with which the publisher probes.
    package var isEmpty: Bool

    package init(
        isEntry: Bool, vp8: VP8Descriptor? = nil, frameNumber: UInt16? = nil, isEmpty: Bool = false
    ) {
        self.isEntry = isEntry
        self.vp8 = vp8
        self.frameNumber = frameNumber
        self.isEmpty = isEmpty
    }
}

/// The numbers of a packet in its slot.
package struct SlotPacket: Hashable, Sendable {
    package var sequence: UInt16
    package var timestamp: UInt32
    /// For VP8; nil keeps the packet's own.
    package var pictureID: UInt16?
    package var baseLayerIndex: UInt8?
    /// For the dependency descriptor; nil keeps the packet's own.
    package var frameNumber: UInt16?
    /// The slot shows another source from here on, so an audio packet gets the marker bit.
    package var isSwitch = false
}

/// Makes one continuous stream of the sources that a slot shows in turn.
///
/// A slot keeps its SSRC for ever, so a receiver must see one sequence, one clock and one numbering of pictures,
/// whichever source or simulcast layer is forwarded. Within one source the numbers differ from the source's by
/// constants: a lost packet leaves its gap, and a late one fills it. A switch happens where a receiver can begin, with
/// the next sequence number, and a timestamp that advanced by the elapsed time. Packets from before the switch that
/// arrive later have no number and are dropped.
///
/// Frames are numbered twice: in VP8's payload and, with any codec, in the dependency descriptor. A receiver of
/// libwebrtc takes a key frame with a lower number there than the last one for a late packet; it drops the key frame
/// and, for want of its structure, all frames that follow.
///
/// A range with the same constants is a `Run`. The latest runs are kept: they tell which packet of which source a
/// receiver requests again, without memory for each packet.
package struct SlotRewriter: Sendable {
    package enum Decision: Hashable, Sendable {
        case forward(SlotPacket)
        /// Send padding under this number: the packet that it was reserved for turned out to be empty.
        case fill(SlotPacket)
        case drop
    }

    /// The source's packet that a receiver requests again, with the numbers that it had.
    package struct Original: Hashable, Sendable {
        package let source: UInt32
        package let sequence: UInt16
        fileprivate let run: Run
        fileprivate let slotSequence: UInt16
    }

    fileprivate struct Run: Hashable, Sendable {
        let source: UInt32
        /// Counts the switches: the numbers of a source are comparable only within one epoch.
        let epoch: UInt32
        /// The source's sequence number at which it begins.
        let begin: Int64
        /// The offsets to add to the source's numbers.
        var sequence: Int64
        let timestamp: UInt32
        let picture: UInt16
        let baseLayer: UInt8
        /// nil while the source has no frame numbers.
        let frame: UInt16?

        func numbers(_ sequence: Int64, _ timestamp: UInt32, _ traits: PacketTraits) -> SlotPacket {
            SlotPacket(
                sequence: UInt16(truncatingIfNeeded: sequence &+ self.sequence), timestamp: timestamp &+ self.timestamp,
                pictureID: traits.vp8.flatMap { vp8 in vp8.pictureID.map { ($0 &+ picture) & vp8.pictureIDMask } },
                baseLayerIndex: traits.vp8?.baseLayerIndex.map { $0 &+ baseLayer },
                frameNumber: traits.frameNumber.flatMap { number in frame.map { number &+ $0 } })
        }
    }

    private static let runLimit = 64

    package let clockRate: UInt32
    /// The source that is shown now; nil before the first packet.
    package private(set) var source: UInt32?
    /// The source to switch to as soon as a receiver can begin with it.
    package private(set) var target: UInt32?
    private var runs: [Run] = []
    private var epoch: UInt32 = 0
    private var unwrapper = SequenceUnwrapper()
    /// The source's highest sequence number since the switch.
    private var highestSource: Int64 = 0
    private var highest: Int64
    private var newest: (timestamp: UInt32, sent: Instant)?
    private var picture: UInt16
    private var baseLayer: UInt8
    private var frame: UInt16

    /// The stream begins after these numbers, which should be random.
    package init(clockRate: UInt32, sequence: UInt16, timestamp: UInt32) {
        self.clockRate = clockRate
        highest = Int64(sequence)
        picture = sequence & 0x7FFF
        baseLayer = UInt8(truncatingIfNeeded: timestamp)
        frame = UInt16(truncatingIfNeeded: timestamp)
        firstTimestamp = timestamp
    }

    private let firstTimestamp: UInt32

    /// True while the source that is shown is to be replaced or stopped.
    package var isLeaving: Bool { source != nil && target != source }

    /// The highest sequence number so far; nil while nothing is shown.
    package var newestSequence: UInt16? { source == nil ? nil : UInt16(truncatingIfNeeded: highest) }

    /// True while the host should request a key frame from the target source.
    package var awaitsEntry: Bool { target != nil && target != source }

    /// How far the slot's timestamps are ahead of the current source's.
    package var timestampOffset: UInt32? { source == nil ? nil : runs.last?.timestamp }

    /// Switches to another source where a receiver can begin with it; until then the current one continues. Nil stops.
    package mutating func show(_ source: UInt32?) {
        target = source
        if source == nil { self.source = nil }
    }

    /// The current source restarted with other numbers.
    package mutating func restart() {
        source = nil
    }

    /// The numbers of a packet that is to be sent now.
    package mutating func receive(
        _ header: RTPHeader, from source: UInt32, _ traits: PacketTraits, at now: Instant
    ) -> Decision {
        if source == target, source != self.source {
            guard traits.isEntry, !traits.isEmpty else { return .drop }
            return .forward(change(to: source, header, traits, at: now))
        }
        guard source == self.source, var last = runs.last else { return .drop }
        let sequence = unwrapper.unwrap(header.sequence)
        guard sequence > highestSource else { return late(sequence, header, traits) }
        highestSource = sequence
        if last.frame == nil, let number = traits.frameNumber {
            last = Run(
                source: source, epoch: epoch, begin: sequence, sequence: last.sequence, timestamp: last.timestamp,
                picture: last.picture, baseLayer: last.baseLayer, frame: frame &+ 1 &- number)
            add(last)
        }
        if traits.isEmpty {
            // Its number goes to the next packet.
            move(
                to: Run(
                    source: source, epoch: epoch, begin: sequence &+ 1, sequence: last.sequence &- 1,
                    timestamp: last.timestamp, picture: last.picture, baseLayer: last.baseLayer, frame: last.frame))
            highest = sequence &+ last.sequence &- 1
            return .drop
        }
        highest = sequence &+ last.sequence
        let packet = last.numbers(sequence, header.timestamp, traits)
        note(packet, traits, at: now)
        return .forward(packet)
    }

    private mutating func change(
        to source: UInt32, _ header: RTPHeader, _ traits: PacketTraits, at now: Instant
    ) -> SlotPacket {
        unwrapper = SequenceUnwrapper()
        epoch &+= 1
        let sequence = unwrapper.unwrap(header.sequence)
        highestSource = sequence
        highest &+= 1
        var timestamp = firstTimestamp
        if let newest {
            let elapsed =
                MediaClock.ticks(at: now, rate: clockRate) &- MediaClock.ticks(at: newest.sent, rate: clockRate)
            timestamp = newest.timestamp &+ max(elapsed, 1)
        }
        let run = Run(
            source: source, epoch: epoch, begin: sequence, sequence: highest &- sequence,
            timestamp: timestamp &- header.timestamp, picture: picture &+ 1 &- (traits.vp8?.pictureID ?? 0),
            baseLayer: baseLayer &+ 1 &- (traits.vp8?.baseLayerIndex ?? 0),
            frame: traits.frameNumber.map { frame &+ 1 &- $0 })
        add(run)
        self.source = source
        var packet = run.numbers(sequence, header.timestamp, traits)
        note(packet, traits, at: now)
        packet.isSwitch = true
        return packet
    }

    /// A reordered packet: it gets the number that was reserved for it.
    private func late(_ sequence: Int64, _ header: RTPHeader, _ traits: PacketTraits) -> Decision {
        guard let index = runs.lastIndex(where: { $0.epoch == epoch && $0.begin <= sequence }) else { return .drop }
        let run = runs[index]
        // A number past the run's end belongs to the next run.
        if index &+ 1 < runs.count, sequence &+ run.sequence >= runs[index &+ 1].begin &+ runs[index &+ 1].sequence {
            return .drop
        }
        let packet = run.numbers(sequence, header.timestamp, traits)
        return traits.isEmpty ? .fill(packet) : .forward(packet)
    }

    /// Records the newest numbers, after which the next source begins.
    private mutating func note(_ packet: SlotPacket, _ traits: PacketTraits, at now: Instant) {
        if let newest {
            if packet.timestamp.isNewer(than: newest.timestamp) { self.newest = (packet.timestamp, now) }
        } else {
            newest = (packet.timestamp, now)
        }
        if let vp8 = traits.vp8 {
            let mask = vp8.pictureIDMask
            if let number = packet.pictureID, (number &- picture) & mask <= mask >> 1 { picture = number }
            if let number = packet.baseLayerIndex, (number &- baseLayer) & 0x80 == 0 { baseLayer = number }
        }
        if let number = packet.frameNumber, number.isNewer(than: frame) { frame = number }
    }

    /// Consecutive empty packets move the start of the last run.
    private mutating func move(to run: Run) {
        if let last = runs.last, last.epoch == run.epoch, last.begin == run.begin &- 1 {
            runs[runs.count &- 1] = run
        } else {
            add(run)
        }
    }

    private mutating func add(_ run: Run) {
        if runs.count >= Self.runLimit { runs.removeFirst() }
        runs.append(run)
    }

    /// The source's packet for a sequence number of the slot; nil when the number is unknown or too old.
    package func original(of sequence: UInt16) -> Original? {
        let number = highest &+ Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest)))
        guard number <= highest, let run = runs.last(where: { $0.begin &+ $0.sequence <= number }) else { return nil }
        return Original(
            source: run.source, sequence: UInt16(truncatingIfNeeded: number &- run.sequence), run: run,
            slotSequence: sequence)
    }

    /// Whether it was shown after the last switch.
    package func shows(_ original: Original) -> Bool { source != nil && original.run.epoch == epoch }

    /// The numbers that a packet from the history had in the slot.
    package func numbers(of original: Original, _ header: RTPHeader, _ traits: PacketTraits) -> SlotPacket {
        var packet = original.run.numbers(0, header.timestamp, traits)
        packet.sequence = original.slotSequence
        return packet
    }
}
