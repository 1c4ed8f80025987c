import CSRTP
import Glibc
import SecureMedia
import Wire

/// The cost of protecting and unprotecting a packet, in nanoseconds of CPU time, compared with libsrtp2 in the same
/// run.
@main
struct SRTPBenchmark {
    static func main() {
        guard srtp_init() == srtp_err_status_ok else { return }
        print("ns per packet       bytes   protect   libsrtp2   unprotect   libsrtp2")
        for profile in SRTPProfile.preferred {
            for count in [60, 120, 1200] { measure(profile, count) }
        }
    }

    private static let rounds = 100
    private static let packetsPerRound = 2000

    private static func measure(_ profile: SRTPProfile, _ count: Int) {
        let key = [UInt8](repeating: 1, count: profile.keyByteCount)
        let salt = [UInt8](repeating: 2, count: profile.saltByteCount)
        guard let master = SRTPMasterKey(profile, key: key, salt: salt), var sender = SRTPSender.make(master),
            var receiver = SRTPReceiver.make(master), let outbound = oracle(profile, key + salt, ssrc_any_outbound),
            let inbound = oracle(profile, key + salt, ssrc_any_inbound)
        else { return }
        let room = count + 32
        let ours = UnsafeMutableRawBufferPointer.allocate(byteCount: packetsPerRound * room, alignment: 64)
        let theirs = UnsafeMutableRawBufferPointer.allocate(byteCount: packetsPerRound * room, alignment: 64)
        var nanoseconds = [UInt64](repeating: .max, count: 4)
        var failures = 0
        for round in 0..<rounds {
            for packet in 0..<packetsPerRound {
                for buffer in [ours, theirs] {
                    fill(
                        part(buffer, packet, room),
                        sequence: UInt16(truncatingIfNeeded: round * packetsPerRound + packet))
                }
            }
            let steps: [UInt64] = [
                time {
                    for packet in 0..<packetsPerRound {
                        if (try? sender.protectRTP(part(ours, packet, room), count: count)) == nil { failures += 1 }
                    }
                },
                time {
                    for packet in 0..<packetsPerRound {
                        var length = Int32(count)
                        let start = part(theirs, packet, room).baseAddress
                        if srtp_protect(outbound, start, &length) != srtp_err_status_ok { failures += 1 }
                    }
                },
                time {
                    for packet in 0..<packetsPerRound {
                        let whole = UnsafeMutableRawBufferPointer(
                            rebasing: part(ours, packet, room).prefix(count + profile.tagByteCount))
                        if (try? receiver.unprotectRTP(whole)) == nil { failures += 1 }
                    }
                },
                time {
                    for packet in 0..<packetsPerRound {
                        var length = Int32(count + profile.tagByteCount)
                        let start = part(theirs, packet, room).baseAddress
                        if srtp_unprotect(inbound, start, &length) != srtp_err_status_ok { failures += 1 }
                    }
                },
            ]
            // The best round, with the least interference.
            for (index, step) in steps.enumerated() { nanoseconds[index] = min(nanoseconds[index], step) }
        }
        let cells = nanoseconds.map { String($0 / UInt64(packetsPerRound)) }
        print(
            profile.name.padded(to: 20) + String(count).padded(to: 8) + cells[0].padded(to: 10)
                + cells[1].padded(to: 11)
                + cells[2].padded(to: 12) + cells[3] + (failures > 0 ? "  \(failures) failures" : ""))
        ours.deallocate()
        theirs.deallocate()
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    private static func part(_ buffer: UnsafeMutableRawBufferPointer, _ packet: Int, _ room: Int)
        -> UnsafeMutableRawBufferPointer
    {
        UnsafeMutableRawBufferPointer(rebasing: buffer[packet * room..<(packet + 1) * room])
    }

    private static func fill(_ packet: UnsafeMutableRawBufferPointer, sequence: UInt16) {
        packet.storeBytes(of: UInt16(0x806F).bigEndian, as: UInt16.self)
        packet.storeBytes(of: sequence.bigEndian, toByteOffset: 2, as: UInt16.self)
        packet.storeBytes(of: UInt32(0x1234_5678).bigEndian, toByteOffset: 8, as: UInt32.self)
    }

    private static func time(_ body: () -> Void) -> UInt64 {
        let start = clock_gettime_nsec()
        body()
        return clock_gettime_nsec() - start
    }

    private static func clock_gettime_nsec() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func oracle(_ profile: SRTPProfile, _ key: [UInt8], _ direction: srtp_ssrc_type_t) -> OpaquePointer?
    {
        var policy = srtp_policy_t()
        switch profile {
        case .aeadAES128: srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
        case .aeadAES256: srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
        case .aes128CounterSHA1: srtp_crypto_policy_set_rtp_default(&policy.rtp)
        }
        policy.rtcp = policy.rtp
        policy.ssrc.type = direction
        policy.window_size = 1024
        var bytes = key
        var session: OpaquePointer?
        let status = bytes.withUnsafeMutableBufferPointer { bytes in
            policy.key = bytes.baseAddress
            return srtp_create(&session, &policy)
        }
        return status == srtp_err_status_ok ? session : nil
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
