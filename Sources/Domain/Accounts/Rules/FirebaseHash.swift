internal import FoundationEssentials

/// A hash of Firebase Authentication, whose scrypt is modified (github.com/firebase/scrypt): the key that scrypt (RFC 7914)
/// derives encrypts the project's signer key with AES-256 in counter mode, and the result is the hash.
///
/// As text it is `$fbscrypt$v=1,n=14,r=8,p=1,ss=SEPARATOR,sk=SIGNERKEY$SALT$HASH`, with the memory cost as `n`, the rounds as
/// `r`, and standard base64, as Supabase writes it.
package struct FirebaseHash: Hashable, Sendable {
    package static let prefix = "$fbscrypt$"
    /// Firebase's own parameters take 16 MiB.
    package static let maxMemory = 64 << 20

    /// The logarithm of scrypt's `N`, and its `r`; `p` is 1.
    package var memoryCost: Int
    package var rounds: Int
    package var saltSeparator: [UInt8]
    package var signerKey: [UInt8]
    package var salt: [UInt8]
    package var hash: [UInt8]

    /// Nil if it is none, or takes more memory than `maxMemory`.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 1024 else { return nil }
        let fields = text.split(separator: "$", omittingEmptySubsequences: false)
        guard fields.count == 5 else { return nil }
        var values: [Substring: Substring] = [:]
        for parameter in fields[2].split(separator: ",") {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, values.updateValue(parts[1], forKey: parts[0]) == nil else { return nil }
        }
        guard values.count == 6, values["v"] == "1", values["p"] == "1", let cost = values["n"].flatMap({ Int($0) }),
            let rounds = values["r"].flatMap({ Int($0) }), (1...20).contains(cost), (1...64).contains(rounds),
            128 * rounds << cost <= Self.maxMemory, let separator = Self.decoded(values["ss"]),
            let key = Self.decoded(values["sk"]), let salt = Self.decoded(fields[3]),
            let hash = Self.decoded(fields[4]),
            (1...64).contains(separator.count), (16...128).contains(key.count), (1...64).contains(salt.count),
            hash.count == key.count
        else { return nil }
        memoryCost = cost
        self.rounds = rounds
        saltSeparator = separator
        signerKey = key
        self.salt = salt
        self.hash = hash
    }

    private static func decoded(_ text: Substring?) -> [UInt8]? {
        text.flatMap { Data(base64Encoded: String($0)) }.map { Array($0) }
    }
}
