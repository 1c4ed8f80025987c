import BasicContainers
import Synchronization
import TURN
import Wire

/// The ports of one advertised address that relays of this server use, on all workers, readable without a lock.
///
/// One byte for each port: 0, or the mark of the local address where the relay is bound. So two local addresses behind
/// one external address never relay from the same port.
final class AdvertisedPorts: Sendable {
    private struct Local {
        var address: IPAddress
        var claims = 0
    }

    private let ports: UniqueArray<Atomic<UInt8>>
    /// The local addresses with a mark, which is the index plus one.
    private let locals = Mutex<[Local]>([])

    init() {
        var ports = UniqueArray<Atomic<UInt8>>(minimumCapacity: 65536)
        for _ in 0..<65536 { ports.append(Atomic(0)) }
        self.ports = ports
    }

    /// The mark of a local address: the one that it has, or another one's that has no relay and is not among `needed`.
    /// nil when all 255 are in use.
    func mark(of local: IPAddress, beside needed: Set<IPAddress>) -> UInt8? {
        locals.withLock { locals in
            if let index = locals.firstIndex(where: { $0.address == local }) { return UInt8(exactly: index + 1) }
            if let index = locals.firstIndex(where: { $0.claims == 0 && !needed.contains($0.address) }) {
                locals[index].address = local
                return UInt8(exactly: index + 1)
            }
            guard let mark = UInt8(exactly: locals.count + 1) else { return nil }
            locals.append(Local(address: local))
            return mark
        }
    }

    /// Claims the port for a relay at a local address. False when it is in use, or the mark is not the address's any more.
    func claim(_ port: UInt16, _ mark: UInt8, of local: IPAddress) -> Bool {
        locals.withLock { locals in
            let index = Int(mark) - 1
            guard locals.indices.contains(index), locals[index].address == local,
                ports[Int(port)].compareExchange(expected: 0, desired: mark, ordering: .acquiringAndReleasing).exchanged
            else { return false }
            locals[index].claims += 1
            return true
        }
    }

    func release(_ port: UInt16) {
        locals.withLock { locals in
            let index = Int(ports[Int(port)].exchange(0, ordering: .acquiringAndReleasing)) - 1
            if locals.indices.contains(index) { locals[index].claims -= 1 }
        }
    }

    /// 0 for a port that no relay uses.
    func mark(at port: UInt16) -> UInt8 { ports[Int(port)].load(ordering: .acquiring) }

    /// Whether a relay at the local address with this mark uses one.
    func isInUse(_ mark: UInt8) -> Bool {
        locals.withLock { locals in
            let index = Int(mark) - 1
            return locals.indices.contains(index) && locals[index].claims > 0
        }
    }
}

/// The addresses that relays can be on: those for new ones, in the order of `RelayAddresses`, then others that are used or
/// have relays.
///
/// It does not change: when the addresses of the machine do, another one replaces it, which shares the ports in use.
final class PortTable: LiveRelays {
    struct Entry: Sendable {
        let local: IPAddress
        let advertised: IPAddress
        let ports: AdvertisedPorts
        let mark: UInt8
    }

    /// For new relays.
    let addresses: RelayAddresses
    let entries: [Entry]

    /// - Parameters:
    ///   - used: addresses on which relays may be.
    ///   - previous: the table that this one replaces.
    init(_ addresses: RelayAddresses, used: RelayAddresses = RelayAddresses([]), after previous: PortTable? = nil) {
        var ports: [IPAddress: AdvertisedPorts] = [:]
        for entry in previous?.entries ?? [] { ports[entry.advertised] = entry.ports }
        let needed = addresses.entries + used.entries.filter { !addresses.entries.contains($0) }
        let locals = Set(needed.map(\.local))
        var entries: [Entry] = []
        for entry in needed {
            let known = ports[entry.advertised] ?? AdvertisedPorts()
            ports[entry.advertised] = known
            guard let mark = known.mark(of: entry.local, beside: locals) else { continue }
            entries.append(Entry(local: entry.local, advertised: entry.advertised, ports: known, mark: mark))
        }
        for entry in previous?.entries ?? []
        where entry.ports.isInUse(entry.mark)
            && !entries.contains(where: { $0.ports === entry.ports && $0.mark == entry.mark })
        {
            entries.append(entry)
        }
        let marked = Set(entries.map(\.local))
        self.addresses = RelayAddresses(addresses.entries.filter { marked.contains($0.local) })
        self.entries = entries
    }

    /// Pairs for the peer policy, one for each external address that is in use.
    var externals: [(external: IPAddress, local: IPAddress)] {
        entries.filter { $0.local != $0.advertised }.map { ($0.advertised, $0.local) }
    }

    func local(of address: TransportAddress) -> TransportAddress? {
        for entry in entries where entry.advertised == address.address || entry.local == address.address {
            let mark = entry.ports.mark(at: address.port)
            guard mark > 0, let bound = entries.first(where: { $0.ports === entry.ports && $0.mark == mark })?.local
            else { continue }
            if entry.advertised == address.address || bound == address.address {
                return TransportAddress(bound, port: address.port)
            }
        }
        return nil
    }
}
