internal import COpenSSL

/// The shared configuration of a server's TLS connections: the certificate and the allowed options.
///
/// TLS 1.2 and 1.3, no renegotiation, no compression. Sessions are resumed by tickets, so that no state is kept per
/// client. It is immutable and may be used by many threads; a renewed certificate needs a new context.
package final class TLSServerContext: Sendable {
    /// The ALPN protocols that a client may offer (RFC 7443 section 4). A client that offers only others is rejected
    /// (RFC 7301 section 3.2), so that the traffic of another protocol cannot be redirected here.
    package static let protocols = ["stun.turn", "stun.nat-discovery"]

    // OpenSSL guards a context that is no longer configured.
    nonisolated(unsafe) let context: OpaquePointer

    /// nil when OpenSSL is out of memory or rejects the certificate.
    package init?(_ certificate: ServerCertificate) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { return nil }
        guard copenssl_configure_tls(context) == 1, certificate.install(in: context) else {
            SSL_CTX_free(context)
            ERR_clear_error()
            return nil
        }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, chosen, chosenCount, offered, offeredCount, _ in
                TLSServerContext.choose(
                    chosen, chosenCount, UnsafeBufferPointer(start: offered, count: Int(offeredCount)))
            }, nil)
        self.context = context
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Selects the first of the client's protocols that is supported.
    private static func choose(
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ chosenCount: UnsafeMutablePointer<UInt8>?,
        _ offered: UnsafeBufferPointer<UInt8>
    ) -> Int32 {
        var offset = 0
        while offset < offered.count {
            let end = offset &+ 1 &+ Int(offered[offset])
            guard end <= offered.count else { break }
            let name = UnsafeBufferPointer(rebasing: offered[(offset &+ 1)..<end])
            if protocols.contains(where: { $0.utf8.elementsEqual(name) }) {
                chosen?.pointee = name.baseAddress
                chosenCount?.pointee = UInt8(truncatingIfNeeded: name.count)
                return SSL_TLSEXT_ERR_OK
            }
            offset = end
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
