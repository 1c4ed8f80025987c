internal import COpenSSL

/// The client side of a TLS or DTLS connection, over bytes in memory, that inspects a server's certificate.
///
/// It connects whatever the certificate is, so that an invalid one can be distinguished from a closed port:
/// `certificate` tells whether clients would trust it. For testing a server, not for production.
package final class InspectingClient {
    package enum Transport {
        case stream
        case datagrams
    }

    package enum Step: Hashable {
        case waiting
        case done
        /// With OpenSSL's error text.
        case failed(String)
    }

    private static let linkByteCount = 1400

    private let context: OpaquePointer
    private let connection: OpaquePointer
    /// Owned by the connection.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// - Parameters:
    ///   - name: the host name for SNI; nil for an address.
    ///   - authorities: a PEM file of CAs that are trusted besides the system's.
    package init(_ transport: Transport, name: String?, authorities: String?) throws(CertificateError) {
        let method = transport == .stream ? TLS_client_method() : DTLS_client_method()
        guard let context = SSL_CTX_new(method) else { throw CertificateError("OpenSSL has no memory") }
        SSL_CTX_set_default_verify_paths(context)
        if let authorities, SSL_CTX_load_verify_file(context, authorities) != 1 {
            SSL_CTX_free(context)
            throw CertificateError("\(authorities) contains no CA certificates: \(CertificateError.reason())")
        }
        guard let connection = SSL_new(context), let incoming = BIO_new(BIO_s_mem()),
            let outgoing = BIO_new(BIO_s_mem())
        else {
            SSL_CTX_free(context)
            throw CertificateError("OpenSSL has no memory")
        }
        copenssl_client_empty_means_later(incoming)
        copenssl_client_empty_means_later(outgoing)
        SSL_set_bio(connection, incoming, outgoing)
        SSL_set_connect_state(connection)
        if transport == .datagrams { copenssl_client_mtu(connection, Self.linkByteCount) }
        if let name { _ = copenssl_client_server_name(connection, name) }
        ERR_clear_error()
        self.context = context
        self.connection = connection
        self.incoming = incoming
        self.outgoing = outgoing
    }

    deinit {
        SSL_free(connection)
        SSL_CTX_free(context)
    }

    /// Passes in bytes, or one datagram, from the server. Then call `read`.
    package func feed(_ bytes: [UInt8]) {
        BIO_write(incoming, bytes, Int32(clamping: bytes.count))
    }

    package func handshake() -> Step {
        ERR_clear_error()
        let status = SSL_do_handshake(connection)
        return status == 1 ? .done : step(status)
    }

    /// Retransmits a DTLS flight whose response is late.
    package func retransmit() {
        _ = copenssl_retransmit(connection)
    }

    package func write(_ plain: [UInt8]) -> Step {
        ERR_clear_error()
        let status = SSL_write(connection, plain, Int32(clamping: plain.count))
        return status > 0 ? .done : step(status)
    }

    /// The decrypted data from the server; empty when there is no more.
    package func read() -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: 16_384)
        ERR_clear_error()
        let count = SSL_read(connection, &plain, Int32(clamping: plain.count))
        guard count > 0 else { return [] }
        plain.removeSubrange(min(Int(count), plain.count)...)
        return plain
    }

    /// The bytes to send to the server; over DTLS one datagram.
    package func takeOutgoing() -> [UInt8] {
        let waiting = Int(clamping: copenssl_client_pending(outgoing))
        guard waiting > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: waiting)
        let count = BIO_read(outgoing, &bytes, Int32(clamping: waiting))
        guard count > 0 else { return [] }
        bytes.removeSubrange(min(Int(count), bytes.count)...)
        return bytes
    }

    /// The server's certificate, once the handshake is done.
    ///
    /// - Parameter name: the host name or address to which clients connect.
    package func certificate(for name: String) -> PeerCertificate? {
        guard let shown = SSL_get1_peer_certificate(connection) else { return nil }
        defer { X509_free(shown) }
        let status = SSL_get_verify_result(connection)
        return PeerCertificate(
            validFrom: Self.unixSeconds(X509_get0_notBefore(shown)),
            validUntil: Self.unixSeconds(X509_get0_notAfter(shown)),
            matchesName: X509_check_host(shown, name, name.utf8.count, 0, nil) == 1
                || X509_check_ip_asc(shown, name, 0) == 1, names: Self.names(in: shown),
            trustError: Self.isAboutTrust(status)
                ? X509_verify_cert_error_string(status).map { String(cString: $0) } : nil)
    }

    private func step(_ status: Int32) -> Step {
        switch SSL_get_error(connection, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .waiting
        default: .failed(CertificateError.reason())
        }
    }

    /// False for errors about the dates, which are reported separately.
    private static func isAboutTrust(_ status: Int) -> Bool {
        status != Int(X509_V_OK) && status != Int(X509_V_ERR_CERT_HAS_EXPIRED)
            && status != Int(X509_V_ERR_CERT_NOT_YET_VALID)
    }

    private static func names(in certificate: OpaquePointer) -> [String] {
        guard let output = BIO_new(BIO_s_mem()) else { return [] }
        defer { BIO_free(output) }
        let index = X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
        guard index >= 0, X509V3_EXT_print(output, X509_get_ext(certificate, index), 0, 0) == 1 else { return [] }
        var text = [UInt8](repeating: 0, count: 4096)
        let count = BIO_read(output, &text, Int32(clamping: text.count))
        guard count > 0 else { return [] }
        // OpenSSL writes "DNS:turn.example.org, IP Address:203.0.113.5".
        let list = String(decoding: text.prefix(Int(count)), as: UTF8.self)
        return list.split(separator: ",").map { part in
            let name = part.drop { $0 == " " }
            return String(name.split(separator: ":", maxSplits: 1).last ?? name)
        }
    }

    private static func unixSeconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_STRING_free(epoch) }
        var (days, seconds): (Int32, Int32) = (0, 0)
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}

/// A server's certificate as a client sees it.
package struct PeerCertificate: Hashable, Sendable {
    /// Unix seconds.
    package let validFrom: Int64
    package let validUntil: Int64
    /// Whether it is valid for the host name or address to which clients connect.
    package let matchesName: Bool
    /// All names and addresses for which it is valid.
    package let names: [String]
    /// Why its chain is not trusted, as OpenSSL's text; nil when it is trusted.
    package let trustError: String?
}
