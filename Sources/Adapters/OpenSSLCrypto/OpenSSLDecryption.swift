internal import COpenSSL
import Wire

/// AES-GCM from the system's OpenSSL. An instance belongs to one thread.
package final class OpenSSLDecryption: AuthenticatedDecryption {
    private static let tagByteCount = 16
    private let context: OpaquePointer

    /// nil when OpenSSL has no memory.
    package init?() {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    package func open(_ sealed: RawSpan, key: RawSpan, nonce: RawSpan, associated: RawSpan) -> [UInt8]? {
        let cipher: OpaquePointer?
        switch key.byteCount {
        case 16: cipher = EVP_aes_128_gcm()
        case 32: cipher = EVP_aes_256_gcm()
        default: return nil
        }
        let bodyByteCount = sealed.byteCount - Self.tagByteCount
        // The input came in one datagram; the bounds make every count fit an Int32.
        guard (0...65_536).contains(bodyByteCount), (1...64).contains(nonce.byteCount), associated.byteCount <= 65_536,
            let body = sealed.part(0..<bodyByteCount), let tag = sealed.part(bodyByteCount..<sealed.byteCount)
        else { return nil }
        var keyBytes = key.copyToArray()
        var nonceBytes = nonce.copyToArray()
        var tagBytes = tag.copyToArray()
        var plain = [UInt8](repeating: 0, count: bodyByteCount + Self.tagByteCount)
        var count: Int32 = 0
        var rest: Int32 = 0
        defer { EVP_CIPHER_CTX_reset(context) }
        guard EVP_DecryptInit_ex(context, cipher, nil, nil, nil) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceBytes.count), nil) == 1,
            EVP_DecryptInit_ex(context, nil, nil, &keyBytes, &nonceBytes) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes.count), &tagBytes) == 1,
            update(nil, &count, associated), update(&plain, &count, body),
            EVP_DecryptFinal_ex(context, &tagBytes, &rest) == 1, Int(count) == bodyByteCount, rest == 0
        else { return nil }
        return Array(plain.prefix(bodyByteCount))
    }

    private func update(_ output: UnsafeMutablePointer<UInt8>?, _ count: inout Int32, _ input: RawSpan) -> Bool {
        input.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                if output != nil { count = 0 }
                return true
            }
            return EVP_DecryptUpdate(
                context, output, &count, start.assumingMemoryBound(to: UInt8.self), Int32(bytes.count)) == 1
        }
    }
}
