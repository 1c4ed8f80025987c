internal import COpenSSL
package import Wire

/// HMAC and hashes from the system's OpenSSL. The contexts are made once and rekeyed for each message.
///
/// An instance belongs to one thread: the contexts are reused without a lock.
package final class OpenSSLAuthentication: MessageAuthentication {
    private let sha1: KeyedContext
    private let sha256: KeyedContext
    private let digest: OpaquePointer

    /// nil when OpenSSL has no memory.
    package init?() {
        guard let sha1 = KeyedContext("SHA1"), let sha256 = KeyedContext("SHA256"), let digest = EVP_MD_CTX_new() else {
            return nil
        }
        self.sha1 = sha1
        self.sha256 = sha256
        self.digest = digest
    }

    deinit {
        EVP_MD_CTX_free(digest)
    }

    package func hash(_ function: HashFunction, _ message: RawSpan) -> Digest? {
        let kind =
            switch function {
            case .md5: EVP_md5()
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { output in
            var count: UInt32 = 0
            let isDone = message.withUnsafeBytes { bytes in
                EVP_DigestInit_ex(digest, kind, nil) == 1
                    && EVP_DigestUpdate(digest, bytes.baseAddress, bytes.count) == 1
                    && EVP_DigestFinal_ex(digest, output.baseAddress, &count) == 1
            }
            guard isDone, Int(count) == function.byteCount else { return nil }
            return Digest(UnsafeRawBufferPointer(output).bytes.extracting(0..<Int(count)))
        }
    }

    package func code(_ function: HashFunction, key: RawSpan, _ first: RawSpan, _ second: RawSpan) -> Digest? {
        switch function {
        // No protocol here signs with MD5.
        case .md5: nil
        case .sha1: sha1.code(key: key, first, second)
        case .sha256: sha256.code(key: key, first, second)
        }
    }
}

/// An HMAC context for one hash function.
private final class KeyedContext {
    private let context: OpaquePointer

    init?(_ hashName: String) {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        let isSet = hashName.withCString { name in
            let parameters = [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, UnsafeMutablePointer(mutating: name), 0),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_CTX_set_params(context, parameters) == 1
        }
        guard isSet else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    func code(key: RawSpan, _ first: RawSpan, _ second: RawSpan) -> Digest? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 32) { output in
            var count = 0
            let isDone = key.withUnsafeBytes { key in
                // An empty key still needs an address: nil would mean "as before".
                withUnsafeBytes(of: UInt8(0)) { empty in
                    EVP_MAC_init(
                        context, (key.baseAddress ?? empty.baseAddress)?.assumingMemoryBound(to: UInt8.self), key.count,
                        nil) == 1
                }
            }
            guard isDone, update(first), update(second),
                EVP_MAC_final(context, output.baseAddress, &count, output.count) == 1, count <= output.count
            else { return nil }
            return Digest(UnsafeRawBufferPointer(output).bytes.extracting(0..<count))
        }
    }

    private func update(_ part: RawSpan) -> Bool {
        part.withUnsafeBytes { bytes in
            bytes.isEmpty
                || EVP_MAC_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 1
        }
    }
}

/// Random bytes for keys, tokens and seeds, nil when OpenSSL's generator is not seeded.
package enum OpenSSLRandom {
    package static func bytes(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return RAND_bytes(&bytes, Int32(clamping: count)) == 1 ? bytes : nil
    }

    package static func integer() -> UInt64? {
        guard let bytes = bytes(8) else { return nil }
        return bytes.span.bytes.integer(at: 0, as: UInt64.self)
    }
}
