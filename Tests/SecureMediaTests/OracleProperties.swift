import SecureMedia
import TestSupport
import Testing
import Wire

/// Both sides of a session, ours and libsrtp2's, over a bad network: each packet is protected to the same bytes, and
/// each that arrives gets the same verdict from both.
@Suite("Packet by packet against libsrtp2")
struct OracleProperties {
    static let cases = SRTPProfile.allCases.flatMap { profile in (1...12).map { Case(profile: profile, seed: $0) } }

    struct Case: CustomTestStringConvertible, Sendable {
        let profile: SRTPProfile
        let seed: UInt64
        var testDescription: String { "\(profile.name), seed \(seed)" }
    }

    @Test("RTP", arguments: cases)
    func rtp(_ run: Case) throws {
        var network = try Network(run)
        for step in 0..<1500 {
            let packet = network.nextRTP()
            let ours = Oracle.Verdict(network.ends.protectRTP(packet))
            try #require(ours == network.oracle.protectRTP(packet), "step \(step)")
            if case .accepted(let protected) = ours { network.send(protected) }
            for (arriving, isGenuine) in network.arrivals() {
                let verdict = Oracle.Verdict(network.ends.unprotectRTP(arriving))
                try network.check(verdict, network.oracle.unprotectRTP(arriving), isGenuine, "step \(step)")
            }
        }
        #expect(network.accepted > 500)
        #expect(network.rejected > 100)
    }

    @Test("RTCP", arguments: cases)
    func rtcp(_ run: Case) throws {
        var network = try Network(run)
        // libsrtp counts from 1, RFC 3711 section 3.2.1 from 0.
        for source in network.sources { _ = network.ends.protectRTCP(network.generator.rtcp(source: source)) }
        for step in 0..<1000 {
            let source = network.sources.randomElement(using: &network.generator) ?? 0
            let packet = network.generator.rtcp(source: source)
            let ours = Oracle.Verdict(network.ends.protectRTCP(packet))
            try #require(ours == network.oracle.protectRTCP(packet), "step \(step)")
            if case .accepted(let protected) = ours { network.send(protected) }
            for (arriving, isGenuine) in network.arrivals() {
                let verdict = Oracle.Verdict(network.ends.unprotectRTCP(arriving))
                try network.check(verdict, network.oracle.unprotectRTCP(arriving), isGenuine, "step \(step)")
            }
        }
        #expect(network.accepted > 400)
        #expect(network.rejected > 100)
    }

    /// A wire that loses, doubles, delays and damages.
    struct Network {
        let ends: Ends
        let oracle: Oracle
        var generator: SeededRandom
        let sources: [UInt32]
        private(set) var accepted = 0
        private(set) var rejected = 0
        private var sequences: [UInt16]
        private var underWay: [[UInt8]] = []
        private var past: [[UInt8]] = []

        init(_ run: Case) throws {
            var generator = SeededRandom(seed: run.seed &* 1000 &+ UInt64(run.profile.rawValue))
            let key = try SRTPMasterKey.random(run.profile, &generator)
            ends = try Ends(key)
            oracle = try Oracle(key)
            sources = (0..<4).map { _ in UInt32.random(in: 0...UInt32.max, using: &generator) }
            // One shortly before its wrap, since 1,500 packets do not get far.
            sequences = [65_300, 0] + (0..<2).map { _ in UInt16.random(in: 0...UInt16.max, using: &generator) }
            self.generator = generator
        }

        mutating func nextRTP() -> [UInt8] {
            let which = Int.random(in: 0..<sources.count, using: &generator)
            var sequence = sequences[which]
            switch Int.random(in: 0...60, using: &generator) {
            case 0: sequence &+= .random(in: 1...40_000, using: &generator)
            case 1...3: sequence &-= .random(in: 0...1500, using: &generator)
            case 4...6: sequence &+= .random(in: 1...70, using: &generator)
            default: sequence &+= 1
            }
            // A step back is one packet out of order; the others go on from where they were.
            if sequence &- sequences[which] < 32_768 { sequences[which] = sequence }
            return generator.rtp(source: sources[which], sequence: sequence)
        }

        mutating func send(_ packet: [UInt8]) {
            guard Int.random(in: 0...9, using: &generator) > 0 else { return }
            underWay.append(packet)
            if Int.random(in: 0...9, using: &generator) == 0 { underWay.append(packet) }
        }

        /// What arrives now, and whether it is as it was sent.
        mutating func arrivals() -> [(bytes: [UInt8], isGenuine: Bool)] {
            var arriving: [([UInt8], Bool)] = []
            while underWay.count > Int.random(in: 0...8, using: &generator) {
                let packet = underWay.remove(at: .random(in: 0..<underWay.count, using: &generator))
                if Int.random(in: 0...3, using: &generator) == 0 { arriving.append((damaged(packet), false)) }
                arriving.append((packet, true))
                past.append(packet)
                if past.count > 60 { past.removeFirst() }
            }
            if Int.random(in: 0...9, using: &generator) == 0, let again = past.randomElement(using: &generator) {
                arriving.append((again, true))
            }
            return arriving
        }

        private mutating func damaged(_ packet: [UInt8]) -> [UInt8] {
            var packet = packet
            switch Int.random(in: 0...4, using: &generator) {
            case 0: packet.removeLast(.random(in: 1...packet.count, using: &generator))
            case 1: packet += generator.bytes(.random(in: 1...100, using: &generator))
            case 2: packet = generator.bytes(.random(in: 0...100, using: &generator))
            default:
                for _ in 0...Int.random(in: 0...2, using: &generator) {
                    packet[.random(in: 0..<packet.count, using: &generator)] ^=
                        1 << UInt8.random(in: 0...7, using: &generator)
                }
            }
            return packet
        }

        /// Damage may be rejected for different reasons, but by both.
        mutating func check(_ ours: Oracle.Verdict, _ theirs: Oracle.Verdict, _ isGenuine: Bool, _ step: String) throws
        {
            let agree = isGenuine ? ours == theirs : ours.isAccepted == theirs.isAccepted
            try #require(agree, "\(step): \(ours) and \(theirs)")
            if ours.isAccepted { accepted += 1 } else { rejected += 1 }
        }
    }
}
