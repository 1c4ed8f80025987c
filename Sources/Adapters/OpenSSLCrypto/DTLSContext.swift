internal import COpenSSL

/// What the DTLS sessions of a server, or of a client, have in common: the certificate and what is allowed.
///
/// DTLS 1.2 with ephemeral keys and no renegotiation or resumption. It never changes, and sessions made with one keep it:
/// a new certificate is a new context.
package final class DTLSContext: Sendable {
    // SSL_CTX is meant to be shared by threads once it is set up.
    nonisolated(unsafe) let pointer: OpaquePointer
    let isServer: Bool

    /// What every client of DTLS 1.2 has. `RecordGate` knows the shortest record of AES-GCM, so there is nothing else.
    private static let ciphers = "ECDHE+AESGCM:!aNULL:!PSK"
    /// A server asks for no certificate, so a client's other messages bound what the library may set aside.
    private static let longestListOfServers = 2048
    /// A peer's self-signed certificate has some 1,000 bytes.
    private static let longestMediaCertificate = 8192

    private init?(_ method: OpaquePointer?, isServer: Bool) {
        guard let method, let pointer = SSL_CTX_new(method) else { return nil }
        self.pointer = pointer
        self.isServer = isServer
    }

    deinit {
        SSL_CTX_free(pointer)
    }

    /// For sessions that show this certificate. Hellos must have proved where they come from before they get here.
    package static func server(_ certificate: ServerCertificate) -> DTLSContext? {
        guard let context = DTLSContext(DTLS_server_method(), isServer: true), context.restrict(),
            certificate.install(in: context.pointer)
        else { return nil }
        copenssl_set_longest_certificate_list(context.pointer, longestListOfServers)
        // DTLSv1_listen asks whether the cookie is right: it is, since `HelloDoor` let the hello in.
        SSL_CTX_set_cookie_verify_cb(context.pointer) { _, _, _ in 1 }
        return context
    }

    /// For sessions with servers whose certificate was signed by one of these authorities (a PEM file), or with anyone.
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

    /// For sessions that agree on keys for media (RFC 5764): both sides show a certificate that nobody vouches for, and
    /// whoever holds the session compares the peer's fingerprint with the one that was signalled (RFC 8122). `profiles` are
    /// OpenSSL's names of SRTP profiles, the preferred first. A server's sessions have no cookies: their peers have proved
    /// where they are by an ICE check.
    package static func media(
        isServer: Bool, _ identity: MediaIdentity, profiles: [String]
    ) -> DTLSContext? {
        let method = isServer ? DTLS_server_method() : DTLS_client_method()
        guard let context = DTLSContext(method, isServer: isServer), context.restrict(),
            identity.install(in: context.pointer),
            // Zero is success here.
            SSL_CTX_set_tlsext_use_srtp(context.pointer, profiles.joined(separator: ":")) == 0
        else {
            ERR_clear_error()
            return nil
        }
        copenssl_set_longest_certificate_list(context.pointer, longestMediaCertificate)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context.pointer, { _, _ in 1 }, nil)
        return context
    }

    private func restrict() -> Bool {
        copenssl_restrict_dtls(pointer) == 1 && SSL_CTX_set_cipher_list(pointer, Self.ciphers) == 1
    }
}
