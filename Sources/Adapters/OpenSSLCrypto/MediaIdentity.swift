internal import COpenSSL

/// A key and a self-signed certificate for DTLS-SRTP, made at start and kept only in memory.
///
/// ECDSA on P-256, which every WebRTC endpoint supports (RFC 8827 section 6.5). Peers identify it by its fingerprint in
/// SDP; its subject has no meaning.
package final class MediaIdentity: Sendable {
    // Read-only once made; OpenSSL counts references atomically.
    nonisolated(unsafe) private let certificate: OpaquePointer
    nonisolated(unsafe) private let key: OpaquePointer

    private static let secondsPerDay = 86_400
    /// `MBSTRING_ASC`, a macro that Swift does not see.
    private static let plainText: Int32 = 0x1001

    private init(_ certificate: OpaquePointer, _ key: OpaquePointer) {
        self.certificate = certificate
        self.key = key
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// nil when OpenSSL has no memory or no randomness.
    package static func make() -> MediaIdentity? {
        guard let key = copenssl_make_p256_key() else { return nil }
        guard let certificate = X509_new() else {
            EVP_PKEY_free(key)
            return nil
        }
        let identity = MediaIdentity(certificate, key)
        guard identity.sign() else {
            ERR_clear_error()
            return nil
        }
        return identity
    }

    private func sign() -> Bool {
        guard let serial = OpenSSLRandom.integer(), let name = X509_get_subject_name(certificate) else { return false }
        return X509_set_version(certificate, 2) == 1
            // Positive, as X.509 requires.
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
            // A peer's clock may be behind.
            && X509_gmtime_adj(X509_getm_notBefore(certificate), -Self.secondsPerDay) != nil
            && X509_gmtime_adj(X509_getm_notAfter(certificate), 3650 * Self.secondsPerDay) != nil
            && X509_NAME_add_entry_by_txt(name, "CN", Self.plainText, "Switchboard", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1
            && X509_sign(certificate, key, EVP_sha256()) > 0
    }

    /// For the `a=fingerprint` line.
    package func fingerprint(_ function: FingerprintFunction = .sha256) -> CertificateFingerprint? {
        CertificateFingerprint(function, of: certificate)
    }

    func install(in context: OpaquePointer) -> Bool {
        SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1
    }

}
