internal import COpenSSL
import DTLS

// What a DTLS session of media says once its handshake is complete.

extension DTLSSession {
    /// The number of the SRTP profile that both sides agreed on (RFC 5764 section 4.1.2); nil when they found none.
    package var mediaProfile: UInt16? {
        guard phase == .established, let profile = SSL_get_selected_srtp_profile(connection) else { return nil }
        return UInt16(exactly: profile.pointee.id)
    }

    /// So many bytes that only both ends of this session know, for this label (RFC 5705).
    package func exportKeyingMaterial(label: String, count: Int) -> [UInt8]? {
        guard phase == .established, count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        ERR_clear_error()
        guard SSL_export_keying_material(connection, &bytes, count, label, label.utf8.count, nil, 0, 0) == 1 else {
            ERR_clear_error()
            return nil
        }
        return bytes
    }

    /// The fingerprint of the certificate that the peer showed and holds the key of.
    package func peerFingerprint(_ function: FingerprintFunction) -> CertificateFingerprint? {
        guard phase == .established, let certificate = SSL_get1_peer_certificate(connection) else { return nil }
        defer { X509_free(certificate) }
        return CertificateFingerprint(function, of: certificate)
    }

    /// Whether the peer's certificate is the one that was signalled. Of several fingerprints only those by the strongest
    /// function count, and one of them has to fit (RFC 8122 section 5).
    package func peerShows(oneOf fingerprints: [CertificateFingerprint]) -> Bool {
        guard let strongest = fingerprints.map(\.function).max(), let shown = peerFingerprint(strongest) else {
            return false
        }
        return fingerprints.contains(shown)
    }
}
