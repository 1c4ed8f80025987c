import DatagramIO
import Foundation

/// How many of the process's file descriptors each part may take, so that none of them starves another. When all limits
/// together are more than the system allows, a part that asks for no more than an equal share gets what it asks for, and
/// the others get the same share of what their limits ask for.
struct DescriptorBudget: Hashable, Sendable {
    /// Connections of the API's port.
    let connections: Int
    let relayConnections: Int
    let allocations: Int
    /// ICE-TCP connections of all of the gateway's threads; they have a bound of their own.
    let gatewayConnections: Int
    /// What the operator should know when there is too little.
    let warning: String?

    /// The database, its log and its readers, files that are written or served, child processes, the operator's pages.
    private static let others = 512
    private static let perGatewayWorker = 4096
    /// One with an address of each family has two sockets.
    private static let perAllocation = 2

    init(_ configuration: ServerConfiguration) {
        let workers = configuration.integer("gateway.workers")
        self.init(
            limit: DescriptorLimit.raise() ?? .max, connections: configuration.integer("http.limits.connections"),
            relayConnections: configuration.integer("relay.limits.connections"),
            allocations: configuration.integer("relay.limits.allocations"),
            gatewayWorkers: workers == 0 ? ProcessInfo.processInfo.activeProcessorCount : workers)
    }

    init(limit: Int, connections: Int, relayConnections: Int, allocations: Int, gatewayWorkers: Int) {
        let gateway = gatewayWorkers * Self.perGatewayWorker
        let demands = [connections, relayConnections, allocations * Self.perAllocation, gateway]
        let wanted = demands.reduce(0, +)
        let available = max(limit - Self.others, limit / 2, 1)
        let (modest, large) = Self.division(of: demands, available)
        func share(_ limit: Int, descriptors: Int = 1) -> Int {
            limit * descriptors <= modest ? limit : max(1, Int(Double(limit) * min(large, 1)))
        }
        self.connections = share(connections)
        self.relayConnections = share(relayConnections)
        self.allocations = share(allocations, descriptors: Self.perAllocation)
        gatewayConnections = share(gateway)
        warning =
            wanted <= available
            ? nil
            : "The system allows \(limit) file descriptors, and the limits together need \(wanted + Self.others): "
                + "http.limits.connections is \(self.connections), relay.limits.connections \(self.relayConnections) "
                + "and relay.limits.allocations \(self.allocations) instead. Raise LimitNOFILE of the systemd unit, "
                + "or ulimit -n."
    }

    /// Up to which demand each is met whole, and which share the larger ones get of theirs.
    private static func division(of demands: [Int], _ available: Int) -> (modest: Int, large: Double) {
        var rest = available
        var left = demands.sorted()
        var modest = 0
        while let smallest = left.first, smallest <= rest / left.count {
            modest = smallest
            rest -= smallest
            left.removeFirst()
        }
        let wanted = left.reduce(0, +)
        return (modest, wanted == 0 ? 1 : Double(rest) / Double(wanted))
    }
}
