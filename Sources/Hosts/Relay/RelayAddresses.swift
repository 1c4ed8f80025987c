package import Wire

/// The local addresses of the relay, and the external address of each.
package struct RelayAddresses: Sendable {
    struct Entry: Hashable, Sendable {
        let local: IPAddress
        let advertised: IPAddress
    }

    let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }

    package init(local: [IPAddress], externals: [ExternalAddress]) {
        entries = local.map { address in
            let mapping =
                externals.first { $0.local == address }
                ?? externals.first { external in
                    external.local == nil && external.external.family == address.family
                        && (!address.isLoopback
                            || local.allSatisfy { $0.isLoopback || $0.family != address.family })
                }
            return Entry(local: address, advertised: mapping?.external ?? address)
        }
    }

    /// The external address of each local address that differs from it.
    package var advertisedByLocal: [IPAddress: IPAddress] {
        Dictionary(entries.filter { $0.local != $0.advertised }.map { ($0.local, $0.advertised) }) { first, _ in first }
    }

    /// The address to relay from for a client that connected to `local`: the same one, or one of the requested family,
    /// preferably loopback if `local` is, and not if it is not.
    func index(for local: IPAddress, _ family: IPAddress.Family) -> Int? {
        entries.firstIndex { $0.local == local && local.family == family }
            ?? entries.firstIndex { $0.local.family == family && $0.local.isLoopback == local.isLoopback }
            ?? entries.firstIndex { $0.local.family == family }
    }
}
