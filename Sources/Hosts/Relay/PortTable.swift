import BasicContainers
import Synchronization
import TURN
import Wire

/// The relay ports in use on all workers, readable without a lock.
///
/// One byte for each port of each advertised address: 0, or 1 plus the index of the local address where the relay is
/// bound. So two local addresses behind one external address never relay from the same port.
final class PortTable: LiveRelays {
    private let addresses: RelayAddresses
    /// For each entry of `addresses`, where its table begins in `ports`.
    private let offsets: [Int]
    private let ports: UniqueArray<Atomic<UInt8>>

    init(_ addresses: RelayAddresses) {
        self.addresses = addresses
        var advertised: [IPAddress] = []
        var offsets: [Int] = []
        for entry in addresses.entries {
            if !advertised.contains(entry.advertised) { advertised.append(entry.advertised) }
            offsets.append((advertised.firstIndex(of: entry.advertised) ?? 0) * 65536)
        }
        self.offsets = offsets
        let count = advertised.count * 65536
        var ports = UniqueArray<Atomic<UInt8>>(minimumCapacity: count)
        for _ in 0..<count { ports.append(Atomic(0)) }
        self.ports = ports
    }

    /// Claims the port for a relay at this local address. False when it is in use.
    func claim(_ port: UInt16, at index: Int) -> Bool {
        guard let mark = UInt8(exactly: index + 1), index < offsets.count else { return false }
        return ports[offsets[index] + Int(port)].compareExchange(
            expected: 0, desired: mark, ordering: .acquiringAndReleasing
        ).exchanged
    }

    func release(_ port: UInt16, at index: Int) {
        guard index < offsets.count else { return }
        ports[offsets[index] + Int(port)].store(0, ordering: .releasing)
    }

    func isClaimed(_ port: UInt16, at index: Int) -> Bool {
        index < offsets.count && ports[offsets[index] + Int(port)].load(ordering: .relaxed) != 0
    }

    func local(of address: TransportAddress) -> TransportAddress? {
        for (index, entry) in addresses.entries.enumerated()
        where entry.advertised == address.address || entry.local == address.address {
            let mark = Int(ports[offsets[index] + Int(address.port)].load(ordering: .acquiring))
            guard mark > 0, mark <= addresses.entries.count else { continue }
            let bound = addresses.entries[mark - 1].local
            if entry.advertised == address.address || bound == address.address {
                return TransportAddress(bound, port: address.port)
            }
        }
        return nil
    }
}
