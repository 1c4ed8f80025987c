import CSRTP
import SecureMedia
import Testing

/// libsrtp2, with the same keys as a session of ours.
final class Oracle {
    private let outbound: OpaquePointer
    private let inbound: OpaquePointer

    private static let isReady = srtp_init() == srtp_err_status_ok

    init(_ key: SRTPMasterKey) throws {
        try #require(Self.isReady)
        outbound = try Self.make(key, ssrc_any_outbound)
        inbound = try Self.make(key, ssrc_any_inbound)
    }

    deinit {
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    private static func make(_ key: SRTPMasterKey, _ direction: srtp_ssrc_type_t) throws -> OpaquePointer {
        var policy = srtp_policy_t()
        switch key.profile {
        case .aeadAES128:
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
        case .aeadAES256:
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
            srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
        case .aes128CounterSHA1:
            srtp_crypto_policy_set_rtp_default(&policy.rtp)
            srtp_crypto_policy_set_rtcp_default(&policy.rtcp)
        }
        policy.ssrc.type = direction
        policy.window_size = 2048
        var bytes = key.key + key.salt
        var session: OpaquePointer?
        let status = bytes.withUnsafeMutableBufferPointer { bytes in
            policy.key = bytes.baseAddress
            return srtp_create(&session, &policy)
        }
        try #require(status == srtp_err_status_ok)
        return try #require(session)
    }

    enum Verdict: Equatable {
        case accepted([UInt8])
        case replayed
        case tooOld
        case rejected

        var isAccepted: Bool {
            if case .accepted = self { true } else { false }
        }

        init(_ result: Result<[UInt8], SRTPError>) {
            switch result {
            case .success(let bytes): self = .accepted(bytes)
            case .failure(.replayed): self = .replayed
            case .failure(.tooOld): self = .tooOld
            case .failure: self = .rejected
            }
        }
    }

    func protectRTP(_ packet: [UInt8]) -> Verdict { run(packet) { srtp_protect(outbound, $0, $1) } }
    func protectRTCP(_ packet: [UInt8]) -> Verdict { run(packet) { srtp_protect_rtcp(outbound, $0, $1) } }
    func unprotectRTP(_ packet: [UInt8]) -> Verdict { run(packet) { srtp_unprotect(inbound, $0, $1) } }
    func unprotectRTCP(_ packet: [UInt8]) -> Verdict { run(packet) { srtp_unprotect_rtcp(inbound, $0, $1) } }

    private func run(
        _ packet: [UInt8], _ body: (UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>) -> srtp_err_status_t
    ) -> Verdict {
        // libsrtp reads whole words.
        var buffer = packet + [UInt8](repeating: 0, count: Int(SRTP_MAX_TRAILER_LEN) + 4)
        var count = Int32(packet.count)
        let status = buffer.withUnsafeMutableBytes { body($0.baseAddress, &count) }
        switch status {
        case srtp_err_status_ok: return .accepted(Array(buffer.prefix(Int(count))))
        case srtp_err_status_replay_fail: return .replayed
        case srtp_err_status_replay_old: return .tooOld
        default: return .rejected
        }
    }
}
