internal import COpenSSL

/// The shared configuration of a client's TLS connections: the trusted CAs.
///
/// TLS 1.2 and 1.3, no renegotiation. It is immutable and may be used by many threads.
package final class TLSClientContext: Sendable {
    // OpenSSL guards a context that is no longer configured.
    nonisolated(unsafe) let context: OpaquePointer

    /// Requires a certificate of one of these CAs (a PEM file), or accepts any if nil.
    ///
    /// nil when OpenSSL is out of memory or finds no CAs in the file.
    package init?(authorities: String?) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return nil }
        guard copenssl_configure_tls(context) == 1,
            authorities.map({ SSL_CTX_load_verify_file(context, $0) == 1 }) ?? true
        else {
            SSL_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        if authorities != nil { SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil) }
        self.context = context
    }

    deinit {
        SSL_CTX_free(context)
    }
}
