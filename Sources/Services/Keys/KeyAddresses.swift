import Accounts
import Model
import Wire

/// The addresses from which a server key may be used.
///
/// Clients are told apart by the keys of limits: an IPv4 address, or the /64 of an IPv6 address. So a range of IPv6 has
/// a prefix of at most 64 bits.
package struct KeyAddresses: Hashable, Sendable {
    /// Empty: any address.
    private let ranges: [AddressRange]

    /// Checks the ranges of a new key. Returns them in their canonical form.
    package static func validated(_ texts: [String]) throws -> [String] {
        guard texts.count <= ServerKeyRules.maxAddresses else {
            throw Problem.invalid("address", "A key has at most \(ServerKeyRules.maxAddresses) ranges of addresses.")
        }
        return try texts.map { text in
            guard text.utf8.count <= 64, let range = AddressRange(text) else {
                throw Problem.invalid(
                    "address", "\(text.prefix(64)) is not a range of addresses such as 192.0.2.0/24 or 2001:db8::/48.")
            }
            guard range.base.family == .ipv4 || range.prefixLength <= 64 else {
                throw Problem.invalid(
                    "address", "A range of IPv6 has at most 64 bits, such as \(range.base.sourcePrefix)/64.")
            }
            return range.description
        }
    }

    /// Ranges that cannot be read match no address.
    package init(_ texts: [String]) {
        let read = texts.compactMap { AddressRange($0) }
        ranges = read.isEmpty && !texts.isEmpty ? Self.none : read
    }

    /// - Parameter client: an IPv4 address, or an IPv6 /64, as `ClientAddresses` writes them.
    package func contains(_ client: String) -> Bool {
        guard !ranges.isEmpty else { return true }
        guard let address = AddressRange(client)?.base else { return false }
        return ranges.contains { $0.contains(address) }
    }

    /// The unspecified address, which no client has.
    private static let none = AddressRange("0.0.0.0").map { [$0] } ?? []
}
