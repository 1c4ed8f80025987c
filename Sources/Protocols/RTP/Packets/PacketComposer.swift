import Wire

/// The header extension values that the gateway writes itself. A value that is nil or empty, or has no id, is not
/// written.
package struct ExtensionValues: Hashable, Sendable {
    package var transportSequence: UInt16?
    /// 24 bits: see `AbsoluteSendTime`.
    package var absoluteSendTime: UInt32?
    package var mediaIdentification: [UInt8] = []
    package var streamIdentification: [UInt8] = []
    package var repairedStreamIdentification: [UInt8] = []
    /// Replaces the source's level.
    package var audioLevel: AudioLevel?
    /// Replaces the one in the dependency descriptor.
    package var frameNumber: UInt16?
    /// Added to the offset of an absolute capture time: our wall clock minus its sender's, in 1/2^32 s. The receiver
    /// compares it with our reports, not with its sender's.
    package var captureClockOffset: Int64?

    package init() {}
}

/// The offsets of fields in a composed packet that are set when it is actually sent.
package struct ComposedPacket: Hashable, Sendable {
    package let byteCount: Int
    /// Where the media payload begins: after the original sequence number in a retransmission.
    package let payloadOffset: Int
    package let transportSequenceOffset: Int?
    package let absoluteSendTimeOffset: Int?
}

/// Writes the packets of one direction of one leg: a publisher's packet with another header, other extension ids and
/// values, and optionally as a retransmission (RFC 4588).
///
/// A packet is copied once, from the publisher's buffer into the subscriber's, where it is then encrypted. An extension
/// is forwarded if it describes the source and both legs negotiated it; hop-by-hop ones are stripped (RFC 8285 section
/// 4.1.2 allows a mixer or translator both). Padding is not forwarded. One-byte elements are written if every id and
/// length allows it, otherwise two-byte elements if the leg accepts them; an element that fits neither is left out.
package struct PacketComposer: Hashable, Sendable {
    package var sourceIDs: HeaderExtensionIDs
    package var targetIDs: HeaderExtensionIDs

    package init(from sourceIDs: HeaderExtensionIDs, to targetIDs: HeaderExtensionIDs) {
        self.sourceIDs = sourceIDs
        self.targetIDs = targetIDs
    }

    /// Nil when it does not fit; the content of `target` is then undefined. With `originalSequence` the payload is that
    /// of a retransmission, and `header` has the numbers of the repair stream. With `payload`, only that range of the
    /// packet is its payload.
    package func write(
        _ packet: borrowing RTPPacket, header: RTPHeader, values: ExtensionValues, originalSequence: UInt16? = nil,
        payload: Range<Int>? = nil, into target: inout MutableRawSpan
    ) -> ComposedPacket? {
        var block = ExtensionBlock(
            at: RTPPacket.headerByteCount &+ packet.contributorCount &* 4,
            isTwoByte: needsTwoByte(packet, values), allowsTwoByte: targetIDs.allowsTwoByte)
        write(header, contributorCount: packet.contributorCount, hasPadding: false, into: &target)
        for index in 0..<packet.contributorCount {
            target.store(packet.contributor(at: index) ?? 0, at: RTPPacket.headerByteCount &+ index &* 4)
        }
        var cursor = ExtensionCursor(packet)
        while let element = cursor.next(packet.bytes) {
            guard let id = forwardedID(of: element.id, values), let value = packet.bytes.part(element.range) else {
                continue
            }
            let offset = block.append(id, value, into: &target)
            if let offset { adapt(id, value, values, at: offset, into: &target) }
            if let number = values.frameNumber, let offset, id == targetIDs[.dependencyDescriptor],
                value.byteCount >= DependencyDescriptor.frameNumberOffset &+ 2
            {
                target.store(number, at: offset &+ DependencyDescriptor.frameNumberOffset)
            }
        }
        let marks = append(values, to: &block, into: &target)
        var offset = finish(&block, into: &target)
        if let originalSequence {
            guard target.byteCount >= offset &+ 2 else { return nil }
            target.store(originalSequence, at: offset)
            offset &+= 2
        }
        guard let content = packet.bytes.part(payload ?? packet.payloadRange), target.store(content, at: offset) else {
            return nil
        }
        return ComposedPacket(
            byteCount: offset &+ content.byteCount, payloadOffset: offset, transportSequenceOffset: marks.0,
            absoluteSendTimeOffset: marks.1)
    }

    /// Adapts values that differ between this hop and the next.
    private func adapt(
        _ id: UInt8, _ value: RawSpan, _ values: ExtensionValues, at offset: Int, into target: inout MutableRawSpan
    ) {
        if id == targetIDs[.playoutDelay], let delay = PlayoutDelay(value) {
            target.store(delay.clamped.bits, at: offset)
            target.store(delay.clamped.lastByte, at: offset &+ 2)
        }
        if id == targetIDs[.absoluteCaptureTime], let more = values.captureClockOffset,
            let theirs = value.integer(at: 8, as: Int64.self)
        {
            target.store(theirs &+ more, at: offset &+ 8)
        }
    }

    /// A packet of padding alone, to probe with (RFC 3550 section 5.1). `padding` is at most 255 and at least 1.
    package func writePadding(
        _ padding: UInt8, header: RTPHeader, values: ExtensionValues, into target: inout MutableRawSpan
    ) -> ComposedPacket? {
        var block = ExtensionBlock(
            at: RTPPacket.headerByteCount, isTwoByte: false, allowsTwoByte: targetIDs.allowsTwoByte)
        write(header, contributorCount: 0, hasPadding: true, into: &target)
        let marks = append(values, to: &block, into: &target)
        let offset = finish(&block, into: &target)
        let end = offset &+ Int(max(padding, 1))
        guard end <= target.byteCount else { return nil }
        for index in offset..<end &- 1 { target.store(UInt8(0), at: index) }
        target.store(max(padding, 1), at: end &- 1)
        return ComposedPacket(
            byteCount: end, payloadOffset: offset, transportSequenceOffset: marks.0, absoluteSendTimeOffset: marks.1)
    }

    private func write(
        _ header: RTPHeader, contributorCount: Int, hasPadding: Bool, into target: inout MutableRawSpan
    ) {
        target.store(0x80 | (hasPadding ? 0x20 : 0) | UInt8(truncatingIfNeeded: contributorCount & 15), at: 0)
        target.store(header.payloadType | (header.marker ? 0x80 : 0), at: 1)
        target.store(header.sequence, at: 2)
        target.store(header.timestamp, at: 4)
        target.store(header.ssrc, at: 8)
    }

    /// The id under which the source's element is forwarded; nil when it is not.
    private func forwardedID(of id: UInt8, _ values: ExtensionValues) -> UInt8? {
        guard let kind = sourceIDs.kind(of: id), kind.isEndToEnd,
            !(kind == .audioLevel && values.audioLevel != nil)
        else { return nil }
        let target = targetIDs[kind]
        return target == 0 ? nil : target
    }

    private func needsTwoByte(_ packet: borrowing RTPPacket, _ values: ExtensionValues) -> Bool {
        guard targetIDs.allowsTwoByte else { return false }
        var cursor = ExtensionCursor(packet)
        while let element = cursor.next(packet.bytes) {
            guard let id = forwardedID(of: element.id, values) else { continue }
            if id > 14 || element.range.isEmpty || element.range.count > 16 { return true }
        }
        func beyond(_ kind: HeaderExtension, _ count: Int) -> Bool {
            count > 0 && (targetIDs[kind] > 14 || count > 16)
        }
        return beyond(.transportSequence, values.transportSequence == nil ? 0 : 2)
            || beyond(.absoluteSendTime, values.absoluteSendTime == nil ? 0 : 3)
            || beyond(.mediaIdentification, values.mediaIdentification.count)
            || beyond(.streamIdentification, values.streamIdentification.count)
            || beyond(.repairedStreamIdentification, values.repairedStreamIdentification.count)
            || beyond(.audioLevel, values.audioLevel == nil ? 0 : 1)
    }

    /// The offsets of the transport-wide sequence number and of the sending time.
    private func append(
        _ values: ExtensionValues, to block: inout ExtensionBlock, into target: inout MutableRawSpan
    ) -> (Int?, Int?) {
        var sequenceOffset: Int?
        var timeOffset: Int?
        if let sequence = values.transportSequence {
            sequenceOffset = block.append(targetIDs[.transportSequence], byteCount: 2, into: &target)
            if let sequenceOffset { target.store(sequence, at: sequenceOffset) }
        }
        if let time = values.absoluteSendTime {
            timeOffset = block.append(targetIDs[.absoluteSendTime], byteCount: 3, into: &target)
            if let timeOffset { AbsoluteSendTime.store(time, at: timeOffset, into: &target) }
        }
        if let level = values.audioLevel,
            let offset = block.append(targetIDs[.audioLevel], byteCount: 1, into: &target)
        {
            target.store(level.byte, at: offset)
        }
        _ = block.append(
            targetIDs[.mediaIdentification], values.mediaIdentification.span.bytes, into: &target)
        _ = block.append(
            targetIDs[.streamIdentification], values.streamIdentification.span.bytes, into: &target)
        _ = block.append(
            targetIDs[.repairedStreamIdentification], values.repairedStreamIdentification.span.bytes, into: &target)
        return (sequenceOffset, timeOffset)
    }

    /// Closes the block and returns where the payload begins.
    private func finish(_ block: inout ExtensionBlock, into target: inout MutableRawSpan) -> Int {
        guard let end = block.finish(into: &target) else { return block.start }
        target.store((target.bytes.byte(at: 0) ?? 0x80) | 0x10, at: 0)
        return end
    }
}
