internal import Wire

/// Which address a name leads to, where only those of the open Internet are to be reached.
enum PublicAddress {
    typealias Resolver = @Sendable (_ host: String) async throws(TranscriptionFailure) -> [String]

    /// The address to connect to. When one of several is private, none is taken: a name that leads to both is a trick or a
    /// mistake.
    static func find(
        _ host: String, allowsPrivate: Bool, resolver: @escaping Resolver, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> String {
        let found = try await Deadline.race(deadline) { () async throws(TranscriptionFailure) in
            try await resolver(host)
        }
        guard let address = found.first else { throw .unreachable("its name leads nowhere") }
        if !allowsPrivate, let own = found.first(where: { !isPublic($0) }) { throw .addressRefused(own) }
        return address
    }

    /// Every spelling counts: an IPv6 address that holds an IPv4 one is judged by both.
    static func isPublic(_ text: String) -> Bool {
        // What is none, or has a zone, which means an interface of this machine.
        guard let address = IPAddress(text) else { return false }
        return !SpecialRanges.contains(address)
            && EmbeddedIPv4.addresses(in: address).allSatisfy { !SpecialRanges.contains($0) }
    }
}
