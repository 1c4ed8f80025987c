import DatagramIO
import Relay
import Testing
import Wire

/// A relay on free loopback ports, stopped when the test is over.
final class RunningRelay {
    private static let loopback = IPAddress(ipv4: 0x7F00_0001)
    let server: RelayServer
    let address: TransportAddress

    /// - Parameter addresses: those of the machine, if it is to follow them.
    init(on addresses: LocalAddresses? = nil, _ change: (inout RelayConfiguration) -> Void = { _ in }) throws {
        var configuration = RelayConfiguration()
        configuration.listen = addresses == nil ? [Self.loopback] : []
        configuration.port = 0
        configuration.users = ["alice": "wonderland", "bob": "builder"]
        configuration.secrets = ["a secret of the tests"]
        configuration.allowedPeers = [try #require(AddressRange("127.0.0.0/8")), try #require(AddressRange("::1"))]
        configuration.workers = 2
        change(&configuration)
        server = try RelayServer(configuration: configuration)
        try server.start(on: addresses ?? LocalAddresses(all: [], preferred: []))
        address = try #require(server.addresses.first)
    }

    deinit {
        server.stop()
    }

    /// Waits until the counters satisfy the condition; they are published some 20 times a second.
    func waits(for condition: (RelayCounters) -> Bool) -> Bool {
        let pause = try? TestSocket(Self.loopback)
        for _ in 0..<200 {
            if condition(server.counters) { return true }
            _ = pause?.receive(milliseconds: 25)
        }
        return false
    }
}
