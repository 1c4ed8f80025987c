import Metrics
import Relay
import Wire

// The relay's metrics beyond plain totals. Labels are bounded: transports, reasons, limits, workers.

extension ServerMetrics {
    func collectMore(_ counters: RelayCounters, of relay: RelayServer) {
        registry.setHistogram(
            "relay_receive_batch_size", bounds: BatchSizes.bounds, counts: counters.receiveBatches.buckets,
            sum: Double(counters.receiveBatches.datagrams))
        registry.setHistogram(
            "relay_send_batch_size", bounds: BatchSizes.bounds, counts: counters.sendBatches.buckets,
            sum: Double(counters.sendBatches.datagrams))
        for transport in Flow.Transport.allCases {
            set(
                "relay_allocations_by_transport", counters.allocationsByTransport[transport],
                [("transport", transport.name.lowercased())])
        }
        set("relay_allocations_ended_total", counters.allocationsExpired, [("reason", "expired")])
        set("relay_allocations_ended_total", counters.allocationsRevoked, [("reason", "revoked")])
        for (reason, count) in relay.rejections {
            set("relay_allocations_refused_total", count, [("limit", reason.rawValue)])
        }
        set("relay_streams_throttled_total", counters.streamsHeld)
        set("relay_icmp_errors_forwarded_total", counters.peerErrors)
        set("relay_reserved_ports", relay.outstanding.reservedPorts)
        set("relay_draining", relay.isDraining ? 1 : 0)
        collectLimits(relay.limits)
        for (index, worker) in relay.workerCounters.enumerated() { collect(worker, index: index) }
    }

    private func collectLimits(_ limits: RelayLimits) {
        set("relay_limit", limits.allocations, [("limit", "allocations")])
        set("relay_limit", limits.allocationsPerUser, [("limit", "allocations_per_user")])
        set("relay_limit", limits.connections, [("limit", "connections")])
        set("relay_limit", limits.responsesPerSecond, [("limit", "unauthenticated_responses_per_second")])
    }

    private func collect(_ worker: RelayCounters, index: Int) {
        for (direction, packets) in [
            ("from_clients", worker.packetsFromClients), ("from_peers", worker.packetsFromPeers),
            ("to_clients", worker.packetsToClients), ("to_peers", worker.packetsToPeers),
        ] {
            set("relay_worker_packets_total", packets, [("worker", String(index)), ("direction", direction)])
        }
        set("relay_worker_allocations", worker.allocationsLive, [("worker", String(index))])
    }
}
