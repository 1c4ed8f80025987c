internal import COpenSSL
import DTLS

// The results of a DTLS-SRTP handshake.

extension DTLSSession {
    /// The number of the negotiated SRTP profile (RFC 5764 section 4.1.2); nil when there is none.
    package var mediaProfile: UInt16? {
        guard phase == .established, let profile = SSL_get_selected_srtp_profile(connection) else { return nil }
        return UInt16(exactly: profile.pointee.id)
    }

    /// Exports `count` bytes of keying material for this label (RFC 5705).
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

    /// The fingerprint of the peer's certificate, whose key the peer has proved to hold.
    package func peerFingerprint(_ function: FingerprintFunction) -> CertificateFingerprint? {
        guard phase == .established, let certificate = SSL_get1_peer_certificate(connection) else { return nil }
        defer { X509_free(certificate) }
        return CertificateFingerprint(function, of: certificate)
    }

    /// Whether the peer's certificate matches a signalled fingerprint. Of several fingerprints only those with the
    /// strongest function count, and one of them has to match (RFC 8122 section 5).
    package func peerMatches(oneOf fingerprints: [CertificateFingerprint]) -> Bool {
        guard let strongest = fingerprints.map(\.function).max(), let shown = peerFingerprint(strongest) else {
            return false
        }
        return fingerprints.contains(shown)
    }
}
