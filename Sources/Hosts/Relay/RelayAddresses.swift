package import Wire

/// The local addresses that the relay works on, and what each is called outside.
package struct RelayAddresses: Sendable {
    struct Entry: Hashable, Sendable {
        let local: IPAddress
        let told: IPAddress
    }

    let entries: [Entry]

    package init(local: [IPAddress], externals: [ExternalAddress]) {
        entries = local.map { address in
            let mapping =
                externals.first { $0.local == address }
                ?? externals.first { external in
                    external.local == nil && external.external.family == address.family
                        && (!address.isLoopback
                            || local.allSatisfy { $0.isLoopback || $0.family != address.family })
                }
            return Entry(local: address, told: mapping?.external ?? address)
        }
    }

    /// What each local address is called outside, where that is another one.
    package var toldByLocal: [IPAddress: IPAddress] {
        Dictionary(entries.filter { $0.local != $0.told }.map { ($0.local, $0.told) }) { first, _ in first }
    }

    /// Pairs for the peer policy, one for each external address.
    var externals: [(external: IPAddress, local: IPAddress)] {
        entries.filter { $0.local != $0.told }.map { ($0.told, $0.local) }
    }

    /// Which address to relay from for a client that came in on `local`: the same one, or one of the wanted family that is
    /// as near as it, loopback or not.
    func index(for local: IPAddress, _ family: IPAddress.Family) -> Int? {
        entries.firstIndex { $0.local == local && local.family == family }
            ?? entries.firstIndex { $0.local.family == family && $0.local.isLoopback == local.isLoopback }
            ?? entries.firstIndex { $0.local.family == family }
    }
}
