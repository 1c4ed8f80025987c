package import Wire

/// What a packet is to the rewriting of its slot.
package struct PacketTraits: Hashable, Sendable {
    /// A receiver can begin here: the first packet of a key frame, or any packet of audio.
    package var isEntry: Bool
    package var vp8: VP8Descriptor?
    /// From the dependency descriptor, which libwebrtc sends with other codecs than AV1 too.
    package var frameNumber: UInt16?
    /// Nothing in it for a receiver: padding with which the publisher probes.
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

/// A packet's numbers in its slot.
package struct SlotPacket: Hashable, Sendable {
    package var sequence: UInt16
    package var timestamp: UInt32
    /// For VP8; nil leaves the packet's own.
    package var pictureID: UInt16?
    package var baseLayerIndex: UInt8?
    /// For the dependency descriptor; nil leaves the packet's own.
    package var frameNumber: UInt16?
    /// The slot shows another source from here on, so an audio packet gets the marker.
    package var isSwitch = false
}

/// Makes one endless stream of the sources that a slot shows in turn.
///
/// A slot keeps its SSRC for ever, so a receiver must see one sequence, one clock and one numbering of pictures, whichever
/// source or simulcast layer is behind them. Within one source the numbers differ from the source's by constants: a lost
/// packet leaves its gap, and a late one fills it. A switch happens where a receiver can begin, with the next sequence
/// number, and a timestamp that advanced by the time that passed. What comes later from before the switch has no number
/// any more and is dropped.
///
/// Pictures are numbered twice: in VP8's payload, and, whichever codec it is, in the dependency descriptor. A receiver of
/// libwebrtc takes a key frame that has a lower number there than the last one for a late packet, and drops it and, since
/// it did not get their structure, all that follow.
///
/// A stretch of constants is a `Run`. The latest runs are kept: they say which packet of which source a receiver means
/// when it asks for one again, without a word of memory for each packet.
package struct SlotRewriter: Sendable {
    package enum Decision: Hashable, Sendable {
        case forward(SlotPacket)
        /// Send padding under this number: what it was kept for turned out to be empty.
        case fill(SlotPacket)
        case drop
    }

    /// The source's packet that a receiver asks for again, with the numbers that it had.
    package struct Original: Hashable, Sendable {
        package let source: UInt32
        package let sequence: UInt16
        fileprivate let run: Run
        fileprivate let slotSequence: UInt16
    }

    fileprivate struct Run: Hashable, Sendable {
        let source: UInt32
        /// Counts the switches: numbers of a source mean something within one of them only.
        let epoch: UInt32
        /// The source's number at which it begins.
        let begin: Int64
        /// To be added to the source's.
        var sequence: Int64
        let timestamp: UInt32
        let picture: UInt16
        let baseLayer: UInt8
        /// nil while the source has no numbers of frames: they begin with the first codec whose sender writes them.
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
    /// What is shown now; nil before the first packet of anything.
    package private(set) var source: UInt32?
    /// What is to be shown as soon as a receiver can begin with it.
    package private(set) var wanted: UInt32?
    private var runs: [Run] = []
    private var epoch: UInt32 = 0
    private var unwrapper = SequenceUnwrapper()
    /// The source's highest number since the switch.
    private var highestSource: Int64 = 0
    private var highest: Int64
    private var newest: (timestamp: UInt32, sent: Instant)?
    private var picture: UInt16
    private var baseLayer: UInt8
    private var frame: UInt16

    /// The numbers that the stream begins behind, which are best random.
    package init(clockRate: UInt32, sequence: UInt16, timestamp: UInt32) {
        self.clockRate = clockRate
        highest = Int64(sequence)
        picture = sequence & 0x7FFF
        baseLayer = UInt8(truncatingIfNeeded: timestamp)
        frame = UInt16(truncatingIfNeeded: timestamp)
        firstTimestamp = timestamp
    }

    private let firstTimestamp: UInt32

    /// True while something is shown that is to be left for something else.
    package var isLeaving: Bool { source != nil && wanted != source }

    /// The highest number that was given; nil while nothing is shown.
    package var newestSequence: UInt16? { source == nil ? nil : UInt16(truncatingIfNeeded: highest) }

    /// True while the host should ask the wanted source for a key frame.
    package var awaitsEntry: Bool { wanted != nil && wanted != source }

    /// How far the slot's timestamps are ahead of those of what is shown now.
    package var timestampOffset: UInt32? { source == nil ? nil : runs.last?.timestamp }

    /// Shows another source from where a receiver can begin with it; until then the present one goes on. Nil stops.
    package mutating func show(_ source: UInt32?) {
        wanted = source
        if source == nil { self.source = nil }
    }

    /// The present source began again with other numbers.
    package mutating func restart() {
        source = nil
    }

    /// The numbers of a packet that is to be sent now.
    package mutating func receive(
        _ header: RTPHeader, from source: UInt32, _ traits: PacketTraits, at now: Instant
    ) -> Decision {
        if source == wanted, source != self.source {
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
            // Its number goes to the packet behind it.
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

    /// A packet that others overtook: it keeps the number that was left for it.
    private func late(_ sequence: Int64, _ header: RTPHeader, _ traits: PacketTraits) -> Decision {
        guard let index = runs.lastIndex(where: { $0.epoch == epoch && $0.begin <= sequence }) else { return .drop }
        let run = runs[index]
        // The number behind a run's end belongs to the next run.
        if index &+ 1 < runs.count, sequence &+ run.sequence >= runs[index &+ 1].begin &+ runs[index &+ 1].sequence {
            return .drop
        }
        let packet = run.numbers(sequence, header.timestamp, traits)
        return traits.isEmpty ? .fill(packet) : .forward(packet)
    }

    /// Remembers the newest numbers, behind which the next source begins.
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

    /// One empty packet after another moves the last run along.
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

    /// The source's packet behind a number of the slot; nil when it was never given or is forgotten.
    package func original(of sequence: UInt16) -> Original? {
        let number = highest &+ Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest)))
        guard number <= highest, let run = runs.last(where: { $0.begin &+ $0.sequence <= number }) else { return nil }
        return Original(
            source: run.source, sequence: UInt16(truncatingIfNeeded: number &- run.sequence), run: run,
            slotSequence: sequence)
    }

    /// Whether it is of what has been shown since the last switch.
    package func shows(_ original: Original) -> Bool { source != nil && original.run.epoch == epoch }

    /// The numbers that a packet out of the history had in the slot.
    package func numbers(of original: Original, _ header: RTPHeader, _ traits: PacketTraits) -> SlotPacket {
        var packet = original.run.numbers(0, header.timestamp, traits)
        packet.sequence = original.slotSequence
        return packet
    }
}
