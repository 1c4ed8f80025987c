import Wire

/// Decides which of a client's records reach its session.
///
/// Before the keys are agreed on anyone who knows the client's address can forge a record, and afterwards anyone can
/// make the library process one that does not decrypt, or buffer one that it cannot decrypt yet. So a session gets only
/// records that an honest client sends in its phase: of plaintext records the two of its last flight, no plaintext
/// alert, and none of a later epoch before its keys are agreed on. Sessions must use AES-GCM only.
package struct RecordFilter: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// The client's key exchange and ChangeCipherSpec are expected; without cookies its hello comes first.
        case keyAwaited
        /// The client has switched to encryption; its Finished is expected.
        case finishedAwaited
        case established
    }

    /// A key exchange message is a key or an encrypted secret: far below this, even for RSA of 4096 bits.
    private static let maximumMessageByteCount = 2048
    /// A retransmitted Finished is the only handshake record of an established session: a header, 12 bytes, a nonce and
    /// a tag. There is no renegotiation.
    private static let finishedByteCount = 48
    private static let maximumRecordByteCount = 16_384 + 2048
    /// An empty record of AES-GCM: a nonce of 8 bytes and a tag of 16. OpenSSL 3.0 ends the session on a shorter one,
    /// whoever sent it, but silently drops a longer one that does not decrypt.
    private static let minimumEncryptedByteCount = 24

    /// Whether clients are asked for a certificate, so that they send two more messages.
    package let asksForCertificate: Bool

    /// Whether hellos go through a `HelloVerifier`, so that sessions get none. Without cookies a hello is the session's
    /// first message, in any number of fragments.
    package let hasCookies: Bool

    package init(asksForCertificate: Bool = false, hasCookies: Bool = true) {
        self.asksForCertificate = asksForCertificate
        self.hasCookies = hasCookies
    }

    package func admits(_ record: RecordHeader, of datagram: RawSpan, in phase: Phase) -> Bool {
        guard record.body.count <= Self.maximumRecordByteCount,
            record.epoch == 0 || record.body.count >= Self.minimumEncryptedByteCount
        else { return false }
        switch (record.epoch, record.contentType, phase) {
        case (0, .handshake, .keyAwaited):
            return admitsMessages(record, of: datagram)
        case (0, .changeCipherSpec, .keyAwaited):
            return record.body.count == 1 && datagram.byte(at: record.body.lowerBound) == 1
        case (1, .handshake, .finishedAwaited), (1, .alert, .finishedAwaited):
            return true
        case (1, .applicationData, .finishedAwaited):
            // It overtook the Finished, and the library would keep it in a 16 KB buffer.
            return false
        case (1, .handshake, .established):
            return record.body.count == Self.finishedByteCount
        case (1, .applicationData, .established), (1, .alert, .established):
            return true
        default:
            return false
        }
    }

    private func admitsMessages(_ record: RecordHeader, of datagram: RawSpan) -> Bool {
        var rest = record.body
        while !rest.isEmpty {
            guard let fragment = HandshakeFragment(datagram, in: rest), admits(fragment) else { return false }
            rest = fragment.body.upperBound..<rest.upperBound
        }
        return !record.body.isEmpty
    }

    private func admits(_ fragment: HandshakeFragment) -> Bool {
        // A first hello is number 0, one with a cookie number 1.
        let hello: UInt16 = hasCookies ? 1 : 0
        return switch HandshakeFragment.MessageType(rawValue: fragment.type) {
        case .clientHello:
            !hasCookies && fragment.messageSequence == hello
                && fragment.messageByteCount <= HelloVerifier.maximumHelloByteCount
        case .clientKeyExchange where !asksForCertificate:
            fragment.messageSequence == hello + 1 && fragment.messageByteCount <= Self.maximumMessageByteCount
        case .clientKeyExchange, .certificateVerify:
            asksForCertificate && (hello + 1...hello + 3).contains(fragment.messageSequence)
                && fragment.messageByteCount <= Self.maximumMessageByteCount
        case .certificate:
            asksForCertificate && fragment.messageSequence == hello + 1
                && fragment.messageByteCount <= HelloVerifier.maximumHelloByteCount
        default:
            false
        }
    }
}
