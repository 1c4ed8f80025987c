internal import Wire

/// Resolves a host name, and rejects private addresses unless they are allowed.
enum PublicAddress {
    typealias Resolver = @Sendable (_ host: String) async throws(TranscriptionFailure) -> [String]

    /// The address to connect to. When one of several is private, all are rejected: a name with both is an attack or a
    /// mistake.
    static func find(
        _ host: String, allowsPrivate: Bool, resolver: @escaping Resolver, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> String {
        let found = try await Deadline.race(deadline) { () async throws(TranscriptionFailure) in
            try await resolver(host)
        }
        guard let address = found.first else { throw .unreachable("its name has no address") }
        if !allowsPrivate, let own = found.first(where: { !isPublic($0) }) { throw .addressNotAllowed(own) }
        return address
    }

    /// An IPv6 address that embeds an IPv4 address is public only if both are.
    static func isPublic(_ text: String) -> Bool {
        // Not an address, or one with a zone, which names an interface of this machine.
        guard let address = IPAddress(text) else { return false }
        return !SpecialRanges.contains(address)
            && EmbeddedIPv4.addresses(in: address).allSatisfy { !SpecialRanges.contains($0) }
    }
}
