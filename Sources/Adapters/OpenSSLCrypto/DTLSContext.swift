internal import COpenSSL

/// The shared configuration of the DTLS sessions of a server or client: the certificate and the allowed options.
///
/// DTLS 1.2 with ephemeral keys and no renegotiation or resumption. It is immutable, and sessions retain it: a new
/// certificate needs a new context.
package final class DTLSContext: Sendable {
    // SSL_CTX is meant to be shared by threads once it is set up.
    nonisolated(unsafe) let pointer: OpaquePointer
    let isServer: Bool

    /// Supported by every DTLS 1.2 client. `RecordFilter` relies on the minimum record size of AES-GCM.
    private static let ciphers = "ECDHE+AESGCM:!aNULL:!PSK"
    /// Bounds the memory for a client's messages; a server without client authentication receives no certificates.
    private static let maxCertificateListByteCount = 2048
    /// OpenSSL's own, and P-224: GnuTLS signs with it where it serves, as FFmpeg's WHIP muxer does, and a client refuses
    /// certificates on curves that it does not name (RFC 8422 section 5.1).
    private static let mediaClientGroups = "X25519:P-256:X448:P-521:P-384:P-224"
    /// A peer's self-signed certificate has some 1,000 bytes.
    private static let maxMediaCertificateByteCount = 8192

    private init?(_ method: OpaquePointer?, isServer: Bool) {
        guard let method, let pointer = SSL_CTX_new(method) else { return nil }
        self.pointer = pointer
        self.isServer = isServer
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    /// For server sessions with this certificate. The source address of a ClientHello must have been verified before.
    package static func server(_ certificate: ServerCertificate) -> DTLSContext? {
        guard let context = DTLSContext(DTLS_server_method(), isServer: true), context.restrict(),
            certificate.install(in: context.pointer)
        else { return nil }
        copenssl_set_longest_certificate_list(context.pointer, maxCertificateListByteCount)
        // DTLSv1_listen verifies the cookie: `HelloVerifier` has done that already.
        SSL_CTX_set_cookie_verify_cb(context.pointer) { _, _, _ in 1 }
        return context
    }

    /// For client sessions that require a certificate of one of these CAs (a PEM file), or accept any if nil.
    package static func client(authorities: String?) -> DTLSContext? {
        guard let context = DTLSContext(DTLS_client_method(), isServer: false), context.restrict() else { return nil }
        if let authorities {
            guard SSL_CTX_load_verify_file(context.pointer, authorities) == 1 else {
                ERR_clear_error()
                return nil
            }
            SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        }
        return context
    }

    /// For DTLS-SRTP sessions (RFC 5764): both sides use self-signed certificates, and the owner of the session
    /// compares the peer's fingerprint with the signalled one (RFC 8122). `profiles` are OpenSSL's names of SRTP
    /// profiles, the preferred first. Server sessions use no cookies: ICE checks have verified the addresses of the
    /// peers.
    package static func media(
        isServer: Bool, _ identity: MediaIdentity, profiles: [String]
    ) -> DTLSContext? {
        let method = isServer ? DTLS_server_method() : DTLS_client_method()
        guard let context = DTLSContext(method, isServer: isServer), context.restrict(),
            identity.install(in: context.pointer),
            isServer || copenssl_set_groups(context.pointer, mediaClientGroups) == 1,
            // Zero is success here.
            SSL_CTX_set_tlsext_use_srtp(context.pointer, profiles.joined(separator: ":")) == 0
        else {
            ERR_clear_error()
            return nil
        }
        copenssl_set_longest_certificate_list(context.pointer, maxMediaCertificateByteCount)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context.pointer, { _, _ in 1 }, nil)
        return context
    }

    private func restrict() -> Bool {
        copenssl_restrict_dtls(pointer) == 1 && SSL_CTX_set_cipher_list(pointer, Self.ciphers) == 1
    }
}
