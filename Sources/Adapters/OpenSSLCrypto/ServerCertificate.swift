internal import COpenSSL

/// A certificate chain and its private key from PEM files, for a TLS or DTLS server.
///
/// It is validated when it is read, and immutable: a renewed certificate is a new instance, and handshakes in progress
/// finish with the old one.
package final class ServerCertificate: Sendable {
    /// When it expires, in Unix seconds.
    package let expiresAt: Int64

    // Read-only from here on; OpenSSL counts references atomically.
    nonisolated(unsafe) private let chain: [OpaquePointer]
    nonisolated(unsafe) private let key: OpaquePointer

    /// Reads the chain, the server's own certificate first, and the key that belongs to it. Both may be in one file.
    package init(chainFile: String, keyFile: String) throws(CertificateError) {
        let chain = try Self.readChain(chainFile)
        let key: OpaquePointer
        do {
            key = try Self.readKey(keyFile)
        } catch {
            for certificate in chain { X509_free(certificate) }
            throw error
        }
        self.chain = chain
        self.key = key
        expiresAt = chain.first.map { Self.unixSeconds(X509_get0_notAfter($0)) } ?? 0
        guard let own = chain.first, X509_check_private_key(own, key) == 1 else {
            ERR_clear_error()
            throw CertificateError("the private key in \(keyFile) does not belong to the certificate in \(chainFile)")
        }
        // Fails now, and not at the first handshake, if OpenSSL rejects it, for example for a key that is too short.
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw CertificateError("OpenSSL has no memory") }
        defer { SSL_CTX_free(context) }
        guard install(in: context) else {
            throw CertificateError("OpenSSL refuses the certificate in \(chainFile): \(CertificateError.reason())")
        }
    }

    deinit {
        for certificate in chain { X509_free(certificate) }
        EVP_PKEY_free(key)
    }

    /// A warning for the operator at this time (Unix seconds): it has expired, or will within two weeks.
    package func warning(at unixSeconds: Int64) -> String? {
        let days = (expiresAt - unixSeconds) / 86_400
        if expiresAt <= unixSeconds { return "the certificate has expired: clients refuse it until it is renewed" }
        return days < 14 ? "the certificate expires in \(days) days: renew it" : nil
    }

    /// Whether the certificate is valid for this host name or address.
    package func covers(_ host: String) -> Bool {
        guard let own = chain.first else { return false }
        return X509_check_host(own, host, 0, 0, nil) == 1 || X509_check_ip_asc(own, host, 0) == 1
    }

    /// Sets the certificate of this `SSL_CTX`. False when OpenSSL rejects it.
    func install(in context: OpaquePointer) -> Bool {
        guard let own = chain.first, SSL_CTX_use_certificate(context, own) == 1,
            SSL_CTX_use_PrivateKey(context, key) == 1
        else { return false }
        return chain.dropFirst().allSatisfy { copenssl_add_to_chain(context, $0) == 1 }
    }

    private static func readChain(_ path: String) throws(CertificateError) -> [OpaquePointer] {
        let file = try open(path, "certificate")
        defer { BIO_free(file) }
        var chain: [OpaquePointer] = []
        while let certificate = PEM_read_bio_X509(file, nil, nil, nil) { chain.append(certificate) }
        // The end of the file is an error too.
        ERR_clear_error()
        guard !chain.isEmpty else { throw CertificateError("\(path) holds no certificate in PEM form") }
        return chain
    }

    private static func readKey(_ path: String) throws(CertificateError) -> OpaquePointer {
        let file = try open(path, "private key")
        defer { BIO_free(file) }
        var hasPassphrase: Int32 = 0
        let key = copenssl_read_key(file, &hasPassphrase)
        ERR_clear_error()
        if let key { return key }
        throw CertificateError(
            hasPassphrase != 0
                ? "the private key in \(path) has a passphrase: keep one without, readable by the server alone"
                : "\(path) holds no private key in PEM form")
    }

    private static func open(_ path: String, _ what: String) throws(CertificateError) -> OpaquePointer {
        guard let file = BIO_new_file(path, "r") else {
            throw CertificateError("the \(what) \(path) cannot be read: \(CertificateError.reason())")
        }
        return file
    }

    private static func unixSeconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}

/// Why a certificate cannot be used; the text names the file.
package struct CertificateError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }

    /// The text of OpenSSL's last error on this thread, which is cleared.
    static func reason() -> String {
        defer { ERR_clear_error() }
        return copenssl_reason().map { String(cString: $0) } ?? "no reason given"
    }
}
