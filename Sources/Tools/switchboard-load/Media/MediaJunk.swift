import ICE
import RTP
import STUN
import Wire

/// The last packets that a leg sent, as they were on the wire, for attacks on the server.
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

    func any(_ random: inout SeededRandom) -> [UInt8]? { packets.randomElement(using: &random) }
}

/// What an attacker could send with the leg's spoofed source address: replays, forgeries, truncated packets, and noise
/// of every protocol on the port. None of it may have an effect.
extension MediaLeg {
    func sendJunk() {
        guard let flow, let junk = makeJunk() else { return }
        tools.sendCopy(junk.span.bytes, from: descriptor, to: flow.remote)
        tools.counters.junk += 1
    }

    private func makeJunk() -> [UInt8]? {
        var random = tools.random
        defer { tools.random = random }
        let kind = Int.random(in: 0..<9, using: &random)
        switch kind {
        case 0: return junk.any(&random)
        case 1, 2:
            // The right SSRC, with a sequence number that is expected, or one far ahead.
            guard var packet = junk.any(&random) else { return nil }
            let offset =
                kind == 1
                ? packet.count - 1 - Int.random(in: 0..<8, using: &random) : Int.random(in: 2..<4, using: &random)
            packet[offset] ^= UInt8.random(in: 1...255, using: &random)
            return packet
        case 3:
            guard let packet = junk.any(&random) else { return nil }
            return Array(packet.prefix(Int.random(in: 0..<packet.count, using: &random)))
        case 4:
            guard let packet = junk.any(&random) else { return nil }
            return packet + noise(Int.random(in: 1...1400, using: &random), &random)
        case 5:
            // Another SSRC, and a header that is longer than the packet.
            return [UInt8.random(in: 0x80...0xBF, using: &random)]
                + noise(Int.random(in: 0...200, using: &random), &random)
        case 6:
            // Reports that are not encrypted with the leg's keys.
            return [0x80 | UInt8.random(in: 0...31, using: &random), UInt8.random(in: 200...207, using: &random)]
                + noise(Int.random(in: 2...120, using: &random), &random)
        case 7:
            // DTLS records with arbitrary types and epochs, some of them a ClientHello.
            let type = UInt8.random(in: 20...26, using: &random)
            let body = noise(Int.random(in: 0...120, using: &random), &random)
            return [type, 0xFE, 0xFD, 0, UInt8.random(in: 0...1, using: &random)] + noise(6, &random)
                + [0, UInt8(truncatingIfNeeded: body.count)] + body
        default: return forgedCheck(&random)
        }
    }

    /// A check with the right user name and a forged MESSAGE-INTEGRITY.
    private func forgedCheck(_ random: inout SeededRandom) -> [UInt8] {
        var writer = MessageWriter()
        writer.begin(
            MessageType(.request, .binding), TransactionID(UInt32(truncatingIfNeeded: random.next()), random.next()))
        writer.append(
            .username, bytes: plan.remote.ufrag + [UInt8(ascii: ":")] + Array(plan.local.ufrag.text.utf8))
        writer.append(.priority, integer: UInt32.max)
        writer.append(.iceControlling, integer: UInt64.max)
        writer.append(.useCandidate, bytes: [])
        writer.append(.messageIntegrity, bytes: noise(20, &random))
        if Bool.random(using: &random) { writer.appendFingerprint() }
        return writer.bytes
    }

    private func noise(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }
}
