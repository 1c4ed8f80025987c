import DatagramIO
import Foundation

/// Divides the process's file descriptors among its parts, so that none of them starves another. If the limits together
/// exceed what the system allows, a part that needs no more than an equal share gets all of it, and the others are
/// scaled down by the same ratio.
struct DescriptorBudget: Hashable, Sendable {
    /// Connections to the API's port.
    let connections: Int
    let relayConnections: Int
    let allocations: Int
    /// ICE-TCP connections of all gateway threads together. They have a limit of their own.
    let gatewayConnections: Int
    /// A warning for the operator if there are too few descriptors.
    let warning: String?

    /// The database, its log and its readers, open files, child processes, and the admin pages.
    private static let others = 512
    private static let perGatewayWorker = 4096
    /// An allocation with an address of each family has two sockets.
    private static let perAllocation = 2

    init(_ configuration: ServerConfiguration) {
        let workers = configuration[\.gateway.workers]
        self.init(
            limit: DescriptorLimit.raise() ?? .max, connections: configuration[\.http.limits.connections],
            relayConnections: configuration[\.relay.limits.connections],
            allocations: configuration[\.relay.limits.allocations],
            gatewayWorkers: workers == 0 ? ProcessInfo.processInfo.activeProcessorCount : workers)
    }

    init(limit: Int, connections: Int, relayConnections: Int, allocations: Int, gatewayWorkers: Int) {
        let gateway = gatewayWorkers * Self.perGatewayWorker
        let demands = [connections, relayConnections, allocations * Self.perAllocation, gateway]
        let requested = demands.reduce(0, +)
        let available = max(limit - Self.others, limit / 2, 1)
        let (fullyMetLimit, ratio) = Self.shares(of: demands, available)
        func share(_ limit: Int, descriptors: Int = 1) -> Int {
            limit * descriptors <= fullyMetLimit ? limit : max(1, Int(Double(limit) * min(ratio, 1)))
        }
        self.connections = share(connections)
        self.relayConnections = share(relayConnections)
        self.allocations = share(allocations, descriptors: Self.perAllocation)
        gatewayConnections = share(gateway)
        warning =
            requested <= available
            ? nil
            : "The system allows \(limit) file descriptors, and the limits together need \(requested + Self.others): "
                + "http.limits.connections is \(self.connections), relay.limits.connections \(self.relayConnections) "
                + "and relay.limits.allocations \(self.allocations) instead. Raise LimitNOFILE of the systemd unit, "
                + "or ulimit -n."
    }

    /// The largest demand that is met in full, and the ratio by which larger ones are scaled down.
    private static func shares(of demands: [Int], _ available: Int) -> (fullyMetLimit: Int, ratio: Double) {
        var rest = available
        var left = demands.sorted()
        var fullyMetLimit = 0
        while let smallest = left.first, smallest <= rest / left.count {
            fullyMetLimit = smallest
            rest -= smallest
            left.removeFirst()
        }
        let requested = left.reduce(0, +)
        return (fullyMetLimit, requested == 0 ? 1 : Double(rest) / Double(requested))
    }
}
