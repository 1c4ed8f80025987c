import DatagramIO
import Wire

/// Compares the system's limits for this process with what a relay of this size needs.
package enum SystemLimits {
    /// Descriptors other than those of allocations: realtime sessions, the database, HTTP.
    private static let otherDescriptors = 1_000

    /// A warning for each limit that is too low, with how to raise it.
    package static func warnings(allocations: Int) -> [String] {
        var warnings: [String] = []
        let needed = allocations + otherDescriptors
        if let limit = DescriptorLimit.raise(), limit < needed {
            warnings.append(
                "The system allows \(limit) file descriptors, but relay.limits.allocations (\(allocations)) may need "
                    + "\(needed): raise LimitNOFILE of the systemd unit, or ulimit -n.")
        }
        if let granted = grantedReceiveBuffer(), granted < Int(RelayServer.receiveBuffer) {
            warnings.append(
                "The system grants \(granted / 1024) KB of receive buffer instead of "
                    + "\(RelayServer.receiveBuffer / 1024): bursts are lost when the machine is busy. "
                    + "Set net.core.rmem_max=\(RelayServer.receiveBuffer) with sysctl.")
        }
        return warnings
    }

    private static func grantedReceiveBuffer() -> Int? {
        let any = TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 0)
        guard let socket = try? DatagramSocket(any, .exclusive, receiveBuffer: RelayServer.receiveBuffer) else {
            return nil
        }
        return socket.receiveBuffer
    }
}
