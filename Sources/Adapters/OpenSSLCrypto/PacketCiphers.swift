internal import COpenSSL

// The ciphers of SRTP, which work in place: each context is keyed once, and gets only a nonce per packet.

/// AES-GCM (NIST SP 800-38D) with one key, in one direction. Nothing is copied and nothing allocated per packet.
package struct GaloisCipher: ~Copyable {
    package enum Direction: Sendable {
        case seals
        case opens
    }

    package static let tagByteCount = 16
    package static let nonceByteCount = 12

    private let context: OpaquePointer

    private init(_ context: OpaquePointer) {
        self.context = context
    }

    /// A key of 16 bytes is for AES-128, one of 32 for AES-256. nil for another, or for want of memory.
    package static func make(key: [UInt8], _ direction: Direction) -> GaloisCipher? {
        let cipher: OpaquePointer?
        switch key.count {
        case 16: cipher = EVP_aes_128_gcm()
        case 32: cipher = EVP_aes_256_gcm()
        default: return nil
        }
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        let galois = GaloisCipher(context)
        guard EVP_CipherInit_ex(context, cipher, nil, key, nil, direction == .seals ? 1 : 0) == 1 else {
            ERR_clear_error()
            return nil
        }
        return galois
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Encrypts `body` and writes its tag of 16 bytes. The nonce is the low 96 bits, in network order; reusing a nonce
    /// reveals the key.
    package func seal(
        _ body: UnsafeMutableRawBufferPointer, tag: UnsafeMutableRawPointer, nonce: UInt128,
        associated: UnsafeRawBufferPointer, _ more: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) -> Bool {
        run(body, nonce, associated, more)
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag) == 1
    }

    /// Decrypts `body`. False when it is not authentic; the content of the body is then undefined.
    package func open(
        _ body: UnsafeMutableRawBufferPointer, tag: UnsafeMutableRawPointer, nonce: UInt128,
        associated: UnsafeRawBufferPointer, _ more: UnsafeRawBufferPointer = .init(start: nil, count: 0)
    ) -> Bool {
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagByteCount), tag) == 1
            && run(body, nonce, associated, more)
    }

    private func run(
        _ body: UnsafeMutableRawBufferPointer, _ nonce: UInt128, _ associated: UnsafeRawBufferPointer,
        _ more: UnsafeRawBufferPointer
    ) -> Bool {
        let isKeyed = withUnsafeBytes(of: (nonce << 32).bigEndian) { nonce in
            EVP_CipherInit_ex(context, nil, nil, nil, nonce.baseAddress?.assumingMemoryBound(to: UInt8.self), -1) == 1
        }
        var count: Int32 = 0
        // Finishing writes nothing, but needs an output pointer.
        var rest: UInt128 = 0
        return isKeyed && read(associated) && read(more) && EVP.transform(context, body)
            && withUnsafeMutableBytes(of: &rest) {
                EVP_CipherFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), &count) == 1
            }
    }

    private func read(_ associated: UnsafeRawBufferPointer) -> Bool {
        var count: Int32 = 0
        guard let start = associated.baseAddress, !associated.isEmpty else { return true }
        return EVP_CipherUpdate(
            context, nil, &count, start.assumingMemoryBound(to: UInt8.self), Int32(clamping: associated.count)) == 1
    }
}

/// AES in counter mode with one key, as SRTP uses it (RFC 3711 section 4.1.1): the keystream of a starting counter.
package struct CounterCipher: ~Copyable {
    private let context: OpaquePointer

    private init(_ context: OpaquePointer) {
        self.context = context
    }

    /// A key of 16 bytes is for AES-128, one of 32 for AES-256. nil for another, or for want of memory.
    package static func make(key: [UInt8]) -> CounterCipher? {
        let cipher: OpaquePointer?
        switch key.count {
        case 16: cipher = EVP_aes_128_ctr()
        case 32: cipher = EVP_aes_256_ctr()
        default: return nil
        }
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        let counter = CounterCipher(context)
        guard EVP_CipherInit_ex(context, cipher, nil, key, nil, 1) == 1 else {
            ERR_clear_error()
            return nil
        }
        return counter
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    /// Encrypts or decrypts, which is the same.
    package func apply(to body: UnsafeMutableRawBufferPointer, counter: UInt128) -> Bool {
        let isKeyed = withUnsafeBytes(of: counter.bigEndian) { counter in
            EVP_CipherInit_ex(context, nil, nil, nil, counter.baseAddress?.assumingMemoryBound(to: UInt8.self), -1) == 1
        }
        return isKeyed && EVP.transform(context, body)
    }
}

/// HMAC-SHA1 with one key.
package struct PacketAuthenticator: ~Copyable {
    package static let codeByteCount = 20

    private let context: OpaquePointer

    private init(_ context: OpaquePointer) {
        self.context = context
    }

    /// nil for an empty key, or for want of memory.
    package static func make(key: [UInt8]) -> PacketAuthenticator? {
        guard !key.isEmpty, let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        let authenticator = PacketAuthenticator(context)
        let isKeyed = "SHA1".withCString { name in
            let parameters = [
                OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, UnsafeMutablePointer(mutating: name), 0),
                OSSL_PARAM_construct_end(),
            ]
            return EVP_MAC_init(context, key, key.count, parameters) == 1
        }
        guard isKeyed else {
            ERR_clear_error()
            return nil
        }
        return authenticator
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    /// Calls `body` with the code over `first` and `second`, 20 bytes; false when OpenSSL failed.
    package func withCode(
        over first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        // Without a key it restarts with the current one.
        guard EVP_MAC_init(context, nil, 0, nil) == 1, update(first), update(second) else { return false }
        var code = (UInt64(0), UInt64(0), UInt64(0))
        var count = 0
        return withUnsafeMutableBytes(of: &code) { code in
            EVP_MAC_final(context, code.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, code.count) == 1
                && count == Self.codeByteCount
                && body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(code).prefix(Self.codeByteCount)))
        }
    }

    private func update(_ part: UnsafeRawBufferPointer) -> Bool {
        part.isEmpty
            || EVP_MAC_update(context, part.baseAddress?.assumingMemoryBound(to: UInt8.self), part.count) == 1
    }
}

private enum EVP {
    /// Runs a body through a cipher that has its key and nonce, in place.
    static func transform(_ context: OpaquePointer, _ body: UnsafeMutableRawBufferPointer) -> Bool {
        var count: Int32 = 0
        guard let start = body.baseAddress?.assumingMemoryBound(to: UInt8.self), !body.isEmpty else { return true }
        return EVP_CipherUpdate(context, start, &count, start, Int32(clamping: body.count)) == 1
            && Int(count) == body.count
    }
}
