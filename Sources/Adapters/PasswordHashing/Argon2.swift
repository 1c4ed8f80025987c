internal import CArgon2

/// The calls into libargon2. They block until the work is done.
enum Argon2 {
    static let saltLength = 16
    static let hashLength = 32

    struct Failure: Error {
        let code: CInt
    }

    /// Hashes with a random salt; returns the PHC string, which holds the parameters, the salt and the hash.
    static func hash(_ password: [UInt8], _ parameters: Argon2Parameters) throws -> String {
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<saltLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let length = argon2_encodedlen(
            parameters.passes, parameters.memory, parameters.lanes, UInt32(saltLength), UInt32(hashLength), Argon2_id)
        var encoded = [CChar](repeating: 0, count: Int(length))
        let code = argon2id_hash_encoded(
            parameters.passes, parameters.memory, parameters.lanes, password, password.count, salt, salt.count,
            hashLength, &encoded, encoded.count)
        guard code == ARGON2_OK.rawValue else { throw Failure(code: code) }
        return String(decoding: encoded.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Compares in constant time. A stored string that is no argon2id hash never matches.
    static func matches(_ password: [UInt8], _ stored: String) throws -> Bool {
        switch argon2_verify(stored, password, password.count, Argon2_id) {
        case ARGON2_OK.rawValue: return true
        case ARGON2_MEMORY_ALLOCATION_ERROR.rawValue: throw Failure(code: ARGON2_MEMORY_ALLOCATION_ERROR.rawValue)
        default: return false
        }
    }
}
