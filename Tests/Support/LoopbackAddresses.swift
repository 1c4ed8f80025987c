import Synchronization
package import Wire

/// Two addresses of 127/8, every one of which is there to be bound. Each test has its own, and so are the ports there.
package struct LoopbackAddresses: Sendable {
    private static let count = Atomic<UInt32>(0)

    package let first: IPAddress
    package let second: IPAddress

    package init() {
        let network = 0x7F01_0000 + Self.count.add(1, ordering: .relaxed).newValue << 8
        first = IPAddress(ipv4: network + 1)
        second = IPAddress(ipv4: network + 2)
    }
}
