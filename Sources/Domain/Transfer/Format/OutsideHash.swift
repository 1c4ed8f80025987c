import Accounts
import Model

/// The hashes of passwords that can be imported: argon2id as this server makes it, and Firebase's scrypt.
enum OutsideHash {
    private static let argon2 = "$argon2id$v=19$"
    /// A sign-in must not take more of the machine than this.
    private static let (maxKibibytes, maxPasses, maxLanes) = (65_536, 8, 4)

    /// - Throws: `invalid_request` of `passwordHash`.
    static func check(_ hash: String) throws(Problem) -> String {
        guard FirebaseHash(hash) != nil || isArgon2(hash) else {
            throw .invalid(
                "passwordHash",
                "passwordHash is $argon2id$v=19$m=…,t=…,p=…$SALT$HASH with at most \(maxKibibytes) KiB, \(maxPasses) passes "
                    + "and \(maxLanes) lanes, or Firebase's $fbscrypt$v=1,n=14,r=8,p=1,ss=SEPARATOR,sk=SIGNERKEY$SALT$HASH "
                    + "with at most \(FirebaseHash.maxMemory >> 20) MiB.")
        }
        return hash
    }

    private static func isArgon2(_ hash: String) -> Bool {
        guard hash.hasPrefix(argon2), hash.utf8.count <= 512 else { return false }
        let fields = hash.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 6 else { return false }
        let parameters = fields[3].split(separator: ",", omittingEmptySubsequences: false)
        guard parameters.count == 3 else { return false }
        for (parameter, (name, most)) in zip(
            parameters, [("m=", maxKibibytes), ("t=", maxPasses), ("p=", maxLanes)])
        {
            guard parameter.hasPrefix(name), let value = Int(parameter.dropFirst(2)), (1...most).contains(value) else {
                return false
            }
        }
        return [fields[4], fields[5]].allSatisfy { field in
            (8...128).contains(field.utf8.count) && field.utf8.allSatisfy(isBase64)
        }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
