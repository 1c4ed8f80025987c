import ICE
import RTP
import STUN
import Wire

/// What a leg keeps to attack the server with: the packets that it sent last, as they were on the wire.
struct JunkStock {
    private static let capacity = 8
    private var packets: [[UInt8]] = []
    private var next = 0
    var isKept = false

    mutating func remember(_ packet: UnsafeMutableRawBufferPointer) {
        guard isKept else { return }
        if packets.count < Self.capacity {
            packets.append(Array(packet))
        } else {
            packets[next] = Array(packet)
            next = (next + 1) % Self.capacity
        }
    }

    func any(_ chance: inout SeededRandom) -> [UInt8]? { packets.randomElement(using: &chance) }
}

/// What an attacker could send who writes the leg's own address as his source: replays, forgeries, pieces, and noise of
/// every protocol that shares the port. None of it may change anything.
extension MediaLeg {
    func sendJunk() {
        guard let flow, let junk = makeJunk() else { return }
        tools.sendCopy(junk.span.bytes, from: descriptor, to: flow.remote)
        tools.tally.junk += 1
    }

    private func makeJunk() -> [UInt8]? {
        var chance = tools.chance
        defer { tools.chance = chance }
        let kind = Int.random(in: 0..<9, using: &chance)
        switch kind {
        case 0: return junk.any(&chance)
        case 1, 2:
            // The right source, and a number that comes, or one far ahead.
            guard var packet = junk.any(&chance) else { return nil }
            let place =
                kind == 1
                ? packet.count - 1 - Int.random(in: 0..<8, using: &chance) : Int.random(in: 2..<4, using: &chance)
            packet[place] ^= UInt8.random(in: 1...255, using: &chance)
            return packet
        case 3:
            guard let packet = junk.any(&chance) else { return nil }
            return Array(packet.prefix(Int.random(in: 0..<packet.count, using: &chance)))
        case 4:
            guard let packet = junk.any(&chance) else { return nil }
            return packet + noise(Int.random(in: 1...1400, using: &chance), &chance)
        case 5:
            // Somebody else's source, and a header that says more than there is.
            return [UInt8.random(in: 0x80...0xBF, using: &chance)]
                + noise(Int.random(in: 0...200, using: &chance), &chance)
        case 6:
            // Reports nobody encrypted with the leg's keys.
            return [0x80 | UInt8.random(in: 0...31, using: &chance), UInt8.random(in: 200...207, using: &chance)]
                + noise(Int.random(in: 2...120, using: &chance), &chance)
        case 7:
            // DTLS records: types, versions and epochs as they come, some of them a ClientHello.
            let type = UInt8.random(in: 20...26, using: &chance)
            let body = noise(Int.random(in: 0...120, using: &chance), &chance)
            return [type, 0xFE, 0xFD, 0, UInt8.random(in: 0...1, using: &chance)] + noise(6, &chance)
                + [0, UInt8(truncatingIfNeeded: body.count)] + body
        default: return forgedCheck(&chance)
        }
    }

    /// A check with the right names and a code that nobody could have made.
    private func forgedCheck(_ chance: inout SeededRandom) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(
            MessageType(.request, .binding), TransactionID(UInt32(truncatingIfNeeded: chance.next()), chance.next()))
        writer.append(
            .username, bytes: plan.remote.ufrag + [UInt8(ascii: ":")] + Array(plan.local.ufrag.text.utf8))
        writer.append(.priority, integer: UInt32.max)
        writer.append(.iceControlling, integer: UInt64.max)
        writer.append(.useCandidate, bytes: [])
        writer.append(.messageIntegrity, bytes: noise(20, &chance))
        if Bool.random(using: &chance) { writer.appendFingerprint() }
        return writer.bytes
    }

    private func noise(_ count: Int, _ chance: inout SeededRandom) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
    }
}
