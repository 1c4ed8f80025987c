import RTP
import TestSupport
import Testing
import Wire

@testable import SecureMedia

@Suite("SRTP sessions")
struct SessionTests {
    private func ends(_ profile: SRTPProfile, maximumSources: Int = 128) throws -> Ends {
        var generator = SeededRandom(seed: 7)
        return try Ends(try SRTPMasterKey.random(profile, &generator), maximumSources: maximumSources)
    }

    private func rtp(_ sequence: UInt16, source: UInt32 = 1, payload: Int = 20) -> [UInt8] {
        var packet: [UInt8] = [0x80, 111]
        packet.append(bigEndian: sequence)
        packet.append(bigEndian: UInt32(0))
        packet.append(bigEndian: source)
        return packet + [UInt8](repeating: 5, count: payload)
    }

    private func rtcp(source: UInt32 = 1) -> [UInt8] {
        var packet: [UInt8] = [0x80, 201, 0, 1]
        packet.append(bigEndian: source)
        return packet
    }

    @Test("a rollover counter grows with every wrap", arguments: SRTPProfile.allCases)
    func wraps(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        var sequence: UInt16 = 0
        for _ in 0..<40 {
            sequence &+= 20_000
            let protected = try ends.protectRTP(rtp(sequence)).get()
            #expect(ends.unprotectRTP(protected) == .success(rtp(sequence)))
        }
        // The same sequence number again, in the round of now and not of then.
        #expect(ends.protectRTP(rtp(sequence)) == .failure(.replayed))
    }

    @Test("a packet is accepted once, and one behind the replay window never", arguments: SRTPProfile.allCases)
    func replays(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        let first = try ends.protectRTP(rtp(1)).get()
        let second = try ends.protectRTP(rtp(2)).get()
        #expect(ends.unprotectRTP(second) == .success(rtp(2)))
        #expect(ends.unprotectRTP(second) == .failure(.replayed))
        let far = try ends.protectRTP(rtp(2050)).get()
        #expect(ends.unprotectRTP(far) == .success(rtp(2050)))
        #expect(ends.unprotectRTP(first) == .failure(.tooOld))
        #expect(ends.unprotectRTP(second) == .failure(.tooOld))
        #expect(ends.rejectedByReceiver[.replayed] == 1)
        #expect(ends.rejectedByReceiver[.tooOld] == 2)

        let reports = try (0..<2100).map { _ in try ends.protectRTCP(rtcp()).get() }
        #expect(ends.unprotectRTCP(reports[2099]) == .success(rtcp()))
        #expect(ends.unprotectRTCP(reports[2099]) == .failure(.replayed))
        #expect(ends.unprotectRTCP(reports[52]) == .success(rtcp()))
        #expect(ends.unprotectRTCP(reports[51]) == .failure(.tooOld))
    }

    @Test("a nonce is used once: a sent packet cannot be protected again", arguments: SRTPProfile.allCases)
    func reuse(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        _ = try ends.protectRTP(rtp(10)).get()
        #expect(ends.protectRTP(rtp(10, payload: 30)) == .failure(.replayed))
        _ = try ends.protectRTP(rtp(9)).get()
        _ = try ends.protectRTP(rtp(2059)).get()
        #expect(ends.protectRTP(rtp(11)) == .failure(.tooOld))
        #expect(ends.rejectedBySender.total == 2)
    }

    @Test("a forged packet changes nothing: no source, no counter, no window", arguments: SRTPProfile.allCases)
    func forgery(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        let first = try ends.protectRTP(rtp(1)).get()
        var forwardedFlow = first
        forwardedFlow[11] ^= 1
        #expect(ends.unprotectRTP(forwardedFlow) == .failure(.notAuthentic))
        #expect(ends.sourceCount == 0)
        _ = try ends.unprotectRTP(first).get()
        // Forged two thousand packets and half a round ahead.
        for ahead: UInt16 in [2048, 32_767] {
            #expect(ends.unprotectRTP(rtp(1 + ahead, payload: 40)) == .failure(.notAuthentic))
        }
        let second = try ends.protectRTP(rtp(2)).get()
        #expect(ends.unprotectRTP(second) == .success(rtp(2)))

        var report = try ends.protectRTCP(rtcp()).get()
        report[9] ^= 1
        #expect(ends.unprotectRTCP(report) == .failure(.notAuthentic))
        #expect(ends.reporterCount == 0)
    }

    @Test("every bit of a packet counts", arguments: SRTPProfile.allCases)
    func bits(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        let packet = try ends.protectRTP(rtp(1)).get()
        let report = try ends.protectRTCP(rtcp()).get()
        for bit in 0..<8 * packet.count {
            let damaged = packet.flippingBit(bit)
            #expect(throws: SRTPError.self) { try ends.unprotectRTP(damaged).get() }
        }
        for bit in 0..<8 * report.count {
            let damaged = report.flippingBit(bit)
            #expect(throws: SRTPError.self) { try ends.unprotectRTCP(damaged).get() }
        }
        for count in 0..<packet.count {
            #expect(throws: SRTPError.self) { try ends.unprotectRTP(Array(packet.prefix(count))).get() }
        }
        for count in 0..<report.count {
            #expect(throws: SRTPError.self) { try ends.unprotectRTCP(Array(report.prefix(count))).get() }
        }
        #expect(ends.unprotectRTP(packet) == .success(rtp(1)))
        #expect(ends.unprotectRTCP(report) == .success(rtcp()))
    }

    @Test("RTCP without encryption is rejected", arguments: SRTPProfile.allCases)
    func unencrypted(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        var report = try ends.protectRTCP(rtcp()).get()
        let trailer = profile == .aes128CounterSHA1 ? report.count - 14 : report.count - 4
        report[trailer] &= 0x7F
        #expect(ends.unprotectRTCP(report) == .failure(.notEncrypted))
    }

    @Test("sizes and buffers are checked", arguments: SRTPProfile.allCases)
    func sizes(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        let tag = profile.tagByteCount
        #expect(ends.protectRTP([]) == .failure(.tooShort))
        #expect(ends.protectRTP(rtp(1), space: tag - 1) == .failure(.bufferTooSmall))
        #expect(ends.protectRTP(rtp(1), space: tag).map(\.count) == .success(32 + tag))
        #expect(ends.protectRTCP(rtcp(), space: tag + 3) == .failure(.bufferTooSmall))
        #expect(ends.protectRTCP(rtcp(), space: tag + 4).map(\.count) == .success(12 + tag))
        #expect(ends.protectRTP([0x91] + rtp(2, payload: 4).dropFirst()) == .failure(.malformed))
        #expect(ends.protectRTP(rtp(3, payload: 65_535 - 12 - tag)).map(\.count) == .success(65_535))
        #expect(ends.protectRTP(rtp(4, payload: 65_535 - 11 - tag)) == .failure(.tooLong))
        #expect(ends.unprotectRTP([UInt8](repeating: 0x80, count: 65_536)) == .failure(.tooLong))
        #expect(ends.unprotectRTCP([UInt8](repeating: 0x80, count: 65_536)) == .failure(.tooLong))
        // A header that would reach into the tag.
        #expect(ends.unprotectRTP([0x82] + rtp(2, payload: tag + 4).dropFirst()) == .failure(.malformed))
        #expect(ends.unprotectRTP([0x40] + rtp(2, payload: tag).dropFirst()) == .failure(.malformed))
        #expect(ends.unprotectRTP(rtp(2, payload: tag - 1)) == .failure(.tooShort))
        #expect(ends.unprotectRTP(rtp(2, payload: tag)) == .failure(.notAuthentic))
    }

    @Test("the number of sources of a session is limited", arguments: SRTPProfile.allCases)
    func sources(profile: SRTPProfile) throws {
        let wide = try ends(profile)
        let narrow = try ends(profile, maximumSources: 3)
        for source in 1...3 as ClosedRange<UInt32> {
            #expect(
                narrow.unprotectRTP(try wide.protectRTP(rtp(1, source: source)).get())
                    == .success(rtp(1, source: source)))
            _ = try narrow.unprotectRTCP(try wide.protectRTCP(rtcp(source: source)).get()).get()
            _ = try narrow.protectRTP(rtp(1, source: source)).get()
        }
        #expect(narrow.protectRTP(rtp(1, source: 4)) == .failure(.tooManySources))
        let fourth = try wide.protectRTP(rtp(1, source: 4)).get()
        #expect(narrow.unprotectRTP(fourth) == .failure(.tooManySources))
        #expect(narrow.unprotectRTCP(try wide.protectRTCP(rtcp(source: 4)).get()) == .failure(.tooManySources))
        #expect(narrow.sourceCount == 3)
        #expect(narrow.reporterCount == 3)
        narrow.forget(2)
        #expect(narrow.unprotectRTP(fourth) == .success(rtp(1, source: 4)))
        #expect(narrow.unprotectRTP(try wide.protectRTP(rtp(2, source: 3)).get()) == .success(rtp(2, source: 3)))
    }

    @Test(
        "a retired source frees its entry, and returns only after its last index", arguments: SRTPProfile.allCases
    )
    func retirement(profile: SRTPProfile) throws {
        let ends = try ends(profile, maximumSources: 2)
        let kept = try (1...3).map { try ends.protectRTP(rtp($0)).get() }
        let report = try ends.protectRTCP(rtcp()).get()
        for index in [0, 2] { _ = try ends.unprotectRTP(kept[index]).get() }
        _ = try ends.unprotectRTCP(report).get()
        // As long a life as a leg may have, with another source each minute.
        for source in 2...1_800 as ClosedRange<UInt32> {
            #expect(
                ends.unprotectRTP(try ends.protectRTP(rtp(1, source: source)).get()) == .success(rtp(1, source: source))
            )
            for end in [ends.forget, ends.forgetSending] { end(source) }
            if source == 900 { for end in [ends.forget, ends.forgetSending] { end(1) } }
        }
        #expect(ends.sourceCount == 0 && ends.reporterCount == 0)
        // The first is neither replayed, nor one that it kept back accepted, nor is a nonce used again.
        for packet in kept { #expect(ends.unprotectRTP(packet) == .failure(.replayed)) }
        #expect(ends.unprotectRTCP(report) == .failure(.replayed))
        #expect(ends.sourceCount == 0 && ends.reporterCount == 0)
        #expect(ends.protectRTP(rtp(3, payload: 9)) == .failure(.replayed))
        let next = try ends.protectRTP(rtp(4)).get()
        #expect(ends.unprotectRTP(next) == .success(rtp(4)))
        #expect(ends.unprotectRTP(next) == .failure(.replayed))
        #expect(ends.unprotectRTCP(try ends.protectRTCP(rtcp()).get()) == .success(rtcp()))
    }

    @Test("the lifetime of a key is limited", arguments: SRTPProfile.allCases)
    func keyLimits(profile: SRTPProfile) throws {
        let ends = try ends(profile)
        ends.senderLimits.rtpCount = PacketIndex.limit - 1
        ends.senderLimits.rtcpCount = SRTPKeyLimits.maximumRTCP - 1
        let packet = try ends.protectRTP(rtp(1)).get()
        let report = try ends.protectRTCP(rtcp()).get()
        #expect(ends.protectRTP(rtp(2)) == .failure(.keyLimitReached))
        #expect(ends.protectRTCP(rtcp()) == .failure(.keyLimitReached))
        ends.receiverLimits.rtpCount = PacketIndex.limit
        ends.receiverLimits.rtcpCount = SRTPKeyLimits.maximumRTCP
        #expect(ends.unprotectRTP(packet) == .failure(.keyLimitReached))
        #expect(ends.unprotectRTCP(report) == .failure(.keyLimitReached))
        var limits = SRTPKeyLimits()
        #expect(throws: SRTPError.keyLimitReached) { try limits.spendRTP(PacketIndex.limit) }
    }

    @Test("keys of one direction do not decrypt the other")
    func directions() throws {
        var generator = SeededRandom(seed: 3)
        for profile in SRTPProfile.allCases {
            let exported = generator.bytes(SRTPKeyingMaterial.byteCount(for: profile))
            let material = try #require(SRTPKeyingMaterial(profile, exported: exported))
            let client = try Ends(material.client)
            let server = try Ends(material.server)
            #expect(server.unprotectRTP(try client.protectRTP(rtp(1)).get()) == .failure(.notAuthentic))
            #expect(client.unprotectRTCP(try server.protectRTCP(rtcp()).get()) == .failure(.notAuthentic))
        }
    }
}
