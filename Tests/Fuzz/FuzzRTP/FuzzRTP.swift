import FuzzInput
import RTP
import Wire

/// Any bytes as a packet: read, composed for another leg, wrapped and unwrapped as a retransmission, and its payload read
/// as every codec. Then the same bytes as steps of a slot, its history and its missing packets.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    checkPacket(input.bytes)
    checkSlot(input)
    return 0
}

private func checkPacket(_ bytes: RawSpan) {
    guard let packet = try? RTPPacket(bytes) else { return }
    if packet.payloadRange.upperBound > bytes.byteCount { fatalError("a payload beyond the end") }
    var source = HeaderExtensionIDs()
    var target = HeaderExtensionIDs(allowsTwoByte: packet.marker)
    for (index, kind) in HeaderExtension.allCases.enumerated() {
        source[kind] = UInt8(truncatingIfNeeded: index + 1)
        target[kind] = UInt8(truncatingIfNeeded: 15 - index)
    }
    _ = packet.audioLevel(source)
    _ = packet.absoluteSendTime(source)
    var values = ExtensionValues()
    values.transportSequence = packet.sequence
    values.absoluteSendTime = packet.timestamp & 0xFF_FFFF
    values.mediaIdentification = Array("a1".utf8)
    // One-byte elements grow when another makes them two-byte ones.
    var room = [UInt8](repeating: 0, count: bytes.byteCount * 2 + 64)
    var span = room.mutableSpan
    var raw = span.mutableBytes
    let composer = PacketComposer(from: source, to: target)
    guard
        let composed = composer.write(
            packet, header: packet.header, values: values, originalSequence: 0xABCD, into: &raw)
    else { fatalError("no room where there is enough") }
    var written = Array(room.prefix(composed.byteCount))
    guard isFaithful(written, packet, target) else { fatalError("written is not what is read") }
    var writtenSpan = written.mutableSpan
    var writtenBytes = writtenSpan.mutableBytes
    guard let range = Retransmission.unwrap(&writtenBytes, payloadType: 1, ssrc: 2) else { fatalError("not unwrapped") }
    let unwrapped = Array(written[range])
    guard let again = try? RTPPacket(unwrapped.span.bytes), again.sequence == 0xABCD,
        again.payload.equalsInConstantTime(packet.payload)
    else { fatalError("another packet came back") }
    for codec in VideoCodec.allCases {
        _ = codec.beginsKeyFrame(packet.payload, dependencyDescriptor: packet.element(.dependencyDescriptor, source))
    }
    for codec in VideoCodec.allCases { _ = codec.pictureSize(packet.payload) }
    if let element = packet.element(.videoLayersAllocation, source), let allocation = LayersAllocation(element),
        !(1...4).contains(allocation.sizes.count)
    {
        fatalError("more encodings than two bits can count")
    }
    if let descriptor = VP8Descriptor(packet.payload) {
        var copy = packet.payload.copyToArray()
        var span = copy.mutableSpan
        var raw = span.mutableBytes
        descriptor.set(pictureID: 0x1234, baseLayerIndex: 7, in: &raw, at: 0)
        guard let read = VP8Descriptor(copy.span.bytes), read.byteCount == descriptor.byteCount,
            read.isKeyFrame == descriptor.isKeyFrame
        else { fatalError("another descriptor") }
    }
    _ = OpusPayload(packet.payload)
    if let newest = RedundantAudio.newest(in: packet.payload), newest.range.upperBound != packet.payloadRange.count {
        fatalError("a block beyond the end")
    }
    RedundantAudio.visit(packet.payload) { block in
        guard !block.range.isEmpty, block.range.upperBound <= packet.payloadRange.count else {
            fatalError("a block that is not in its payload")
        }
    }
}

private func isFaithful(_ written: [UInt8], _ packet: borrowing RTPPacket, _ ids: HeaderExtensionIDs) -> Bool {
    guard let read = try? RTPPacket(written.span.bytes), read.header == packet.header,
        read.payloadRange.count == packet.payloadRange.count + 2, read.transportSequence(ids) == packet.sequence,
        let payload = read.payload.part(2..<read.payloadRange.count)
    else { return false }
    return payload.equalsInConstantTime(packet.payload)
}

private func checkSlot(_ bytes: UnsafeRawBufferPointer) {
    var input = FuzzInput(bytes)
    var slot = SlotRewriter(clockRate: 90_000, sequence: UInt16(input.byte()) << 8, timestamp: 0)
    var nacks = NACKGenerator()
    var lost: [UInt16] = []
    var history = PacketHistory(byteLimit: 4096)
    var ranking = SpeakerRanking()
    var selection = TopNSelector()
    var loudest: [UInt32] = []
    var now = Instant(nanoseconds: 1_000_000_000)
    var steps = 0
    while !input.isEmpty, steps < 300 {
        steps += 1
        let choice = input.byte()
        now = now.adding(nanoseconds: UInt64(choice) * 1_000_000)
        let sequence = UInt16(input.byte()) << 8 | UInt16(input.byte())
        switch choice & 7 {
        case 0: slot.show(choice & 8 == 0 ? UInt32(choice >> 4 & 3) : nil)
        case 1: slot.restart()
        case 2:
            nacks.collect(at: now, into: &lost)
            if lost.count > 256 { fatalError("more questions than are kept") }
        case 3:
            let header: [UInt8] = [
                0x80, 96, UInt8(sequence >> 8), UInt8(sequence & 255), 0, 0, 0, 0, 0, 0, 0, 1,
            ]
            let bytes = header + input.take(Int(choice))
            if let packet = try? RTPPacket(bytes.span.bytes) { history.store(packet) }
            if let found = history.packet(sequence), !found.equalsInConstantTime(bytes.span.bytes) {
                fatalError("another packet out of the history")
            }
        case 4:
            ranking.receive(AudioLevel(byte: input.byte()), from: UInt32(choice >> 3 & 3), at: now)
            _ = ranking.advance(to: now)
            loudest = selection.select(2, of: [0, 1, 2, 3], chosen: loudest, by: ranking, at: now)
            if loudest.count > 2 || Set(loudest).count < loudest.count {
                fatalError("too many are heard, or one twice")
            }
        default:
            _ = nacks.receive(sequence, at: now)
            let header = RTPHeader(payloadType: 96, sequence: sequence, timestamp: UInt32(sequence) << 8, ssrc: 1)
            let traits = PacketTraits(isEntry: choice & 8 == 0, isEmpty: choice & 0x40 != 0)
            let source = UInt32(choice >> 4 & 3)
            if case .forward(let packet) = slot.receive(header, from: source, traits, at: now),
                let original = slot.original(of: packet.sequence), original.source != source
            {
                fatalError("a number of another source")
            }
        }
    }
}
