import Model

/// Validates the values of server keys. Each function returns the value to store, or throws a `Problem` that names the
/// field.
package enum ServerKeyRules {
    /// The maximum number of keys that are not revoked; all of them are kept in memory.
    package static let maxKeys = 100
    /// The number of revoked keys that are kept, so that their use is distinguished from that of an unknown key.
    package static let maxRevokedKeys = 400
    package static let maxAddresses = 16
    /// Ten years in seconds.
    static let maxLifetime: Int64 = 3650 * 86_400

    package static func name(_ name: String) throws -> String { try AccountRules.displayName(name, field: "name") }

    /// At least one scope; a text may name several, separated by commas.
    package static func scopes(_ texts: [String]) throws -> Set<ServerKeyScope> {
        guard texts.count <= 64 else { throw Problem.invalid("scope", "Name each scope once.") }
        let names = texts.flatMap { $0.split(separator: ",").map { AccountRules.trimmed(String($0)) } }
        let scopes = try names.map { name in
            guard let scope = ServerKeyScope(rawValue: name) else {
                throw Problem.invalid(
                    "scope", "There is no scope \(name.prefix(32)). The scopes are \(ServerKeyScope.names).")
            }
            return scope
        }
        guard !scopes.isEmpty else {
            throw Problem.invalid("scope", "A key needs at least one scope of \(ServerKeyScope.names).")
        }
        return Set(scopes)
    }

    /// The seconds of a lifetime such as `90d`, `12h`, `30m` or `45s`: one second to ten years.
    package static func lifetime(_ text: String) throws -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), (1...9).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits),
            (1...maxLifetime).contains(number &* unit)
        else {
            throw Problem.invalid(
                "expires", "A lifetime is a number and s, m, h or d, such as 90d: one second to 3650 days.")
        }
        return number &* unit
    }
}
