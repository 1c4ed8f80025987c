internal import COpenSSL

/// scrypt (RFC 7914), and AES-256 in counter mode, from the system's OpenSSL. Both block until the work is done.
package enum Scrypt {
    /// The derived key; nil if OpenSSL has no memory for it.
    ///
    /// - Parameters:
    ///   - cost: `N`, a power of two.
    ///   - blockSize: `r`. The work takes 128 · N · r bytes.
    package static func key(
        _ password: [UInt8], salt: [UInt8], cost: Int, blockSize: Int, byteCount: Int
    ) -> [UInt8]? {
        guard cost > 1, blockSize > 0, byteCount > 0 else { return nil }
        var key = [UInt8](repeating: 0, count: byteCount)
        // OpenSSL counts some more bytes than the two arrays have.
        let memory = UInt64(128) * UInt64(blockSize) * UInt64(cost) + (4 << 20)
        let isDone = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt, salt.count,
                UInt64(cost), UInt64(blockSize), 1, memory, &key, key.count)
        }
        return isDone == 1 ? key : nil
    }

    /// Encrypts with AES-256-CTR from a counter block of zeros: for a key that is used once. Nil if the key has not 32
    /// bytes, or OpenSSL has no memory.
    package static func encrypt(_ plain: [UInt8], key: [UInt8]) -> [UInt8]? {
        guard key.count == 32, plain.count <= 65_536, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        let counter = [UInt8](repeating: 0, count: 16)
        var sealed = [UInt8](repeating: 0, count: plain.count + 16)
        var count: Int32 = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nil, key, counter) == 1,
            EVP_EncryptUpdate(context, &sealed, &count, plain, Int32(plain.count)) == 1, Int(count) == plain.count
        else { return nil }
        return Array(sealed.prefix(plain.count))
    }
}
