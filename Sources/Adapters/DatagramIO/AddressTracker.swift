package import Wire

/// What became of the machine's addresses: which are new, which are gone, and which are to be served a little longer.
package struct AddressTracker: Sendable {
    /// How long an address that is gone is served: a lease that is renewed late, or a cable that is plugged in again,
    /// ends no call. Clients give up a path after 30 s without consent (RFC 7675).
    package static let lingerSeconds: UInt32 = 60

    package private(set) var addresses: LocalAddresses
    /// Since when addresses in use are gone.
    private var goneSince: [IPAddress: Instant] = [:]

    package init(_ addresses: LocalAddresses) { self.addresses = addresses }

    /// When an address has been gone for long enough.
    package var deadline: Instant? { goneSince.values.min()?.adding(seconds: Self.lingerSeconds) }

    /// Applies the addresses that the system has now. Whether anything is different for those who listen on them.
    package mutating func update(_ found: LocalAddresses, at now: Instant) -> Bool {
        var next = found
        for address in addresses.used where !next.preferred.contains(address) {
            if found.all.contains(address) {
                goneSince[address] = nil
            } else {
                let since = goneSince[address] ?? now
                goneSince[address] = since
                guard now < since.adding(seconds: Self.lingerSeconds) else {
                    goneSince[address] = nil
                    continue
                }
            }
            next.used.append(address)
        }
        for address in next.preferred { goneSince[address] = nil }
        defer { addresses = next }
        return next != addresses
    }
}
