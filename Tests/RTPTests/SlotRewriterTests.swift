import RTP
import Testing
import Wire

@Suite("Rewriting a slot")
struct SlotRewriterTests {
    private func header(_ sequence: Int, _ timestamp: Int, ssrc: UInt32 = 1) -> RTPHeader {
        RTPHeader(
            payloadType: 96, sequence: UInt16(truncatingIfNeeded: sequence),
            timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: ssrc)
    }
    private func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    private static func vp8(_ picture: Int, _ base: Int, isKey: Bool) -> VP8Descriptor? {
        let bytes: [UInt8] = [
            0x90, 0xE0, 0x80 | UInt8(picture >> 8 & 0x7F), UInt8(picture & 255), UInt8(base & 255), 0, isKey ? 0 : 1,
        ]
        return VP8Descriptor(bytes.span.bytes)
    }

    @Test("a switch goes on with the next numbers and a clock that advanced")
    func switching() {
        var slot = SlotRewriter(clockRate: 90_000, sequence: 65_534, timestamp: 1000)
        slot.show(7)
        #expect(slot.awaitsEntry)
        let delta = PacketTraits(isEntry: false, vp8: Self.vp8(9, 9, isKey: false))
        let key = PacketTraits(isEntry: true, vp8: Self.vp8(10, 5, isKey: true))
        #expect(slot.receive(header(1, 1), from: 7, delta, at: at(0)) == .drop)
        guard case .forward(let first) = slot.receive(header(500, 40_000), from: 7, key, at: at(0)),
            case .forward(let second) = slot.receive(
                header(501, 43_000), from: 7, PacketTraits(isEntry: false, vp8: Self.vp8(11, 6, isKey: false)),
                at: at(33))
        else {
            Issue.record("not forwarded")
            return
        }
        #expect(first.sequence == 65_535 && first.timestamp == 1000 && first.isSwitch)
        #expect(second.sequence == 0 && second.timestamp == 4000 && !second.isSwitch)
        #expect(second.pictureID == first.pictureID.map { ($0 + 1) & 0x7FFF })
        slot.show(8)
        #expect(slot.receive(header(9, 9), from: 8, delta, at: at(50)) == .drop, "no key frame yet")
        guard
            case .forward(let still) = slot.receive(
                header(502, 46_000), from: 7, PacketTraits(isEntry: false, vp8: Self.vp8(12, 7, isKey: false)),
                at: at(66)),
            case .forward(let other) = slot.receive(
                header(60_000, 5), from: 8, PacketTraits(isEntry: true, vp8: Self.vp8(3, 200, isKey: true)),
                at: at(166))
        else {
            Issue.record("not forwarded")
            return
        }
        #expect(still.sequence == 1)
        #expect(other.sequence == 2)
        #expect(other.timestamp == 7000 + 9000)
        #expect(other.pictureID == still.pictureID.map { $0 + 1 })
        #expect(other.baseLayerIndex == still.baseLayerIndex.map { $0 &+ 1 })
        #expect(slot.receive(header(503, 49_000), from: 7, delta, at: at(170)) == .drop, "of before the switch")
        #expect(slot.receive(header(59_999, 1), from: 8, delta, at: at(170)) == .drop, "of before the key frame")
        slot.show(nil)
        #expect(slot.receive(header(60_001, 5), from: 8, delta, at: at(180)) == .drop)
    }

    @Test("empty packets leave no gap; a late one is filled")
    func empty() {
        var slot = SlotRewriter(clockRate: 48_000, sequence: 99, timestamp: 0)
        slot.show(1)
        let audio = PacketTraits(isEntry: true)
        let padding = PacketTraits(isEntry: true, isEmpty: true)
        func receive(_ sequence: Int, _ traits: PacketTraits) -> Int? {
            switch slot.receive(header(sequence, sequence), from: 1, traits, at: at(0)) {
            case .forward(let packet): Int(packet.sequence)
            case .fill(let packet): -Int(packet.sequence)
            case .drop: nil
            }
        }
        #expect(receive(9, padding) == nil)
        #expect(receive(10, audio) == 100)
        #expect(receive(11, padding) == nil)
        #expect(receive(12, padding) == nil)
        #expect(receive(13, audio) == 101)
        #expect(receive(16, audio) == 104)
        #expect(receive(14, audio) == 102)
        #expect(receive(15, padding) == -103)
        #expect(receive(12, padding) == nil)
        #expect(receive(9, audio) == nil, "of before the switch")
        #expect(slot.original(of: 100)?.sequence == 10)
        #expect(slot.original(of: 101)?.sequence == 13)
        #expect(slot.original(of: 103)?.sequence == 15)
        #expect(slot.original(of: 104)?.source == 1)
        #expect(slot.original(of: 105) == nil)
        #expect(slot.original(of: 99) == nil)
    }

    @Test("frame numbers continue after those of the previous source, whenever a source begins to have them")
    func frames() {
        var slot = SlotRewriter(clockRate: 90_000, sequence: 99, timestamp: 7)
        func receive(_ sequence: Int, from source: UInt32, _ number: UInt16?, isEntry: Bool = false) -> SlotPacket? {
            let traits = PacketTraits(isEntry: isEntry, frameNumber: number)
            guard
                case .forward(let packet) = slot.receive(
                    header(sequence, sequence * 3000, ssrc: source), from: source, traits, at: at(UInt64(sequence)))
            else { return nil }
            return packet
        }
        slot.show(1)
        #expect(receive(10, from: 1, 60_000, isEntry: true)?.frameNumber == 8)
        #expect(receive(11, from: 1, 60_000)?.frameNumber == 8, "of the same frame")
        #expect(receive(12, from: 1, 60_002)?.frameNumber == 10, "one frame lost")
        slot.show(2)
        #expect(receive(20, from: 2, nil, isEntry: true)?.frameNumber == nil)
        #expect(receive(22, from: 2, 50_000)?.frameNumber == 11)
        #expect(receive(23, from: 2, 50_001)?.frameNumber == 12)
        #expect(receive(21, from: 2, nil)?.sequence == 104, "a late one keeps the number that was left for it")
        #expect(slot.original(of: 103)?.source == 2 && slot.original(of: 103)?.sequence == 20)
        #expect(slot.original(of: 105)?.sequence == 22)
    }

    /// A publisher's stream with its own numbers, loss and disorder.
    private struct Publisher {
        let id: UInt32
        var sequence: Int
        var timestamp: Int
        var picture: Int
        var base: Int
        var held: [(RTPHeader, PacketTraits, Int)] = []

        mutating func frame(isKey: Bool, packets: Int, elapsed: Int) -> [(RTPHeader, PacketTraits)] {
            timestamp += elapsed * 90
            picture += 1
            base += 1
            return (0..<packets).map { index in
                sequence += 1
                let begins = index == 0
                let bytes: [UInt8] = [
                    begins ? 0x90 : 0x80, 0xE0, 0x80 | UInt8(picture >> 8 & 0x7F), UInt8(picture & 255),
                    UInt8(base & 255), 0, isKey ? 0 : 1,
                ]
                let descriptor = VP8Descriptor(bytes.span.bytes)
                return (
                    RTPHeader(
                        payloadType: 96, sequence: UInt16(truncatingIfNeeded: sequence),
                        timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: id),
                    PacketTraits(isEntry: begins && isKey, vp8: descriptor)
                )
            }
        }
    }

    @Test("over random switches, loss, disorder and padding, a receiver sees one stream", arguments: 0..<60)
    func continuity(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed) + 0x5EED_0007)
        var publishers = (1...4).map { id in
            Publisher(
                id: UInt32(id), sequence: .random(in: 0...65535, using: &random),
                timestamp: .random(in: 0...0xFFFF_FFFF, using: &random),
                picture: .random(in: 0...0x7FFF, using: &random),
                base: .random(in: 0...255, using: &random))
        }
        let start = UInt16.random(in: 0...65535, using: &random)
        var slot = SlotRewriter(
            clockRate: 90_000, sequence: start, timestamp: .random(in: 0...UInt32.max, using: &random))
        /// What the receiver got: the slot's number, unwrapped, with what was in it.
        var received: [Int64: (SlotPacket, UInt32, RTPHeader)] = [:]
        var unwrapper = SequenceUnwrapper()
        _ = unwrapper.unwrap(start)
        var late: [(RTPHeader, PacketTraits, UInt32, Int)] = []
        var milliseconds: UInt64 = 1000
        slot.show(1)

        func give(_ header: RTPHeader, _ traits: PacketTraits, _ id: UInt32) {
            switch slot.receive(header, from: id, traits, at: at(milliseconds)) {
            case .forward(let packet), .fill(let packet):
                let number = unwrapper.unwrap(packet.sequence)
                #expect(received[number] == nil, "seed \(seed): a number was given twice")
                received[number] = (packet, id, header)
                if let original = slot.original(of: packet.sequence) {
                    #expect(original.source == id && original.sequence == header.sequence, "seed \(seed)")
                    var again = slot.numbers(of: original, header, traits)
                    again.isSwitch = packet.isSwitch
                    #expect(again == packet, "seed \(seed): a retransmission has the same numbers")
                } else {
                    Issue.record("seed \(seed): a number without its packet")
                }
            case .drop:
                break
            }
        }

        for step in 0..<2_000 {
            milliseconds += 33
            if Int.random(in: 0..<40, using: &random) == 0 { slot.show(UInt32.random(in: 1...4, using: &random)) }
            for index in publishers.indices {
                let isKey = Int.random(in: 0..<15, using: &random) == 0
                let packets = publishers[index].frame(
                    isKey: isKey, packets: Int.random(in: 1...4, using: &random), elapsed: 33)
                let id = publishers[index].id
                for (header, traits) in packets {
                    var traits = traits
                    if Int.random(in: 0..<30, using: &random) == 0, !traits.isEntry { traits.isEmpty = true }
                    switch Int.random(in: 0..<100, using: &random) {
                    case 0..<3: continue
                    case 3..<8: late.append((header, traits, id, step + Int.random(in: 1...4, using: &random)))
                    default: give(header, traits, id)
                    }
                }
            }
            for (header, traits, id, _) in late.filter({ $0.3 <= step }) { give(header, traits, id) }
            late.removeAll { $0.3 <= step }
        }

        let numbers = received.keys.sorted()
        #expect(numbers.first == Int64(start) + 1, "seed \(seed)")
        var gaps = 0
        for (earlier, later) in zip(numbers, numbers.dropFirst()) {
            guard let old = received[earlier], let new = received[later] else { continue }
            gaps += Int(later - earlier - 1)
            #expect(!old.0.timestamp.isNewer(than: new.0.timestamp), "seed \(seed): time goes back at \(later)")
            let timeStep = new.0.timestamp &- old.0.timestamp
            #expect(timeStep < 90 * 33 * 400, "seed \(seed): time leaps at \(later)")
            if let from = old.0.pictureID, let to = new.0.pictureID {
                let step = (to &- from) & 0x7FFF
                #expect(step < 400, "seed \(seed): picture \(from) to \(to)")
                if old.1 != new.1 { #expect(step >= 1, "seed \(seed): a source begins with a new picture") }
            }
            if old.1 == new.1, !new.0.isSwitch {
                let gap = new.2.sequence &- old.2.sequence
                #expect(Int64(gap) >= later - earlier, "seed \(seed)")
            } else {
                #expect(new.0.isSwitch, "seed \(seed): sources change only at a switch")
                let isLeap = new.0.timestamp == old.0.timestamp
                #expect(!isLeap, "seed \(seed): a switch advances the clock")
            }
        }
        // Only what publishers lost is missing: 3 %, and what came after its switch.
        #expect(Double(gaps) < 0.08 * Double(numbers.count), "seed \(seed): \(gaps) of \(numbers.count)")
    }
}
