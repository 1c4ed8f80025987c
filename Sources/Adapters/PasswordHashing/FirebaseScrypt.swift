import Accounts
internal import OpenSSLCrypto

/// Verifies passwords against hashes of Firebase (`FirebaseHash`). It blocks until the work is done.
enum FirebaseScrypt {
    /// OpenSSL has no memory.
    struct Failure: Error {}

    /// Compares in constant time.
    static func matches(_ password: [UInt8], _ stored: FirebaseHash) throws -> Bool {
        guard
            let key = Scrypt.key(
                password, salt: stored.salt + stored.saltSeparator, cost: 1 << stored.memoryCost,
                blockSize: stored.rounds, byteCount: 32), let hash = Scrypt.encrypt(stored.signerKey, key: key)
        else { throw Failure() }
        var difference: UInt8 = hash.count == stored.hash.count ? 0 : 1
        for (one, other) in zip(hash, stored.hash) { difference |= one ^ other }
        return difference == 0
    }
}
