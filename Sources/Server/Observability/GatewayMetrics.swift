import Gateway
import MediaGateway
import Metrics

// Metrics of the media gateway for Prometheus. Labels are bounded: directions, reasons, kinds.

extension ServerMetrics {
    func collect(_ stats: GatewayStats, _ recordings: (open: Int, kept: Int, connected: Int)) {
        set("gateway_legs", stats.legs)
        set("gateway_connected_legs", stats.connectedLegs)
        // To the gateway, a voice message that is being recorded is a call.
        set("gateway_calls", max(0, stats.calls - recordings.connected))
        set("voice_recordings", recordings.open, [("state", "open")])
        set("voice_recordings", recordings.kept, [("state", "kept")])
        set("gateway_tracks", stats.tracks)
        set("gateway_flows", stats.flows)
        set("gateway_connections", stats.connections)
        for (direction, packets, bytes) in [
            ("in", stats.packetsReceived, stats.bytesReceived), ("out", stats.packetsSent, stats.bytesSent),
        ] {
            set("gateway_packets_total", packets, [("direction", direction)])
            set("gateway_bytes_total", bytes, [("direction", direction)])
        }
        set("gateway_check_responses_total", stats.checksAnswered)
        set("gateway_handshakes_total", stats.handshakes)
        set("gateway_handshakes_delayed_total", stats.handshakesDelayed)
        set("gateway_connections_refused_total", stats.connectionsRejected)
        set("gateway_packets_forwarded_total", stats.counters.forwarded)
        set("gateway_packets_retransmitted_total", stats.counters.repaired)
        set("gateway_packets_paced_total", stats.counters.waited)
        set("gateway_packets_queued_total", stats.packetsQueued)
        set("gateway_unsent_bytes", stats.unsentBytes)
        set("gateway_probes_total", stats.counters.probes)
        set("gateway_probe_packets_total", stats.counters.padded)
        set("gateway_key_frame_requests_total", stats.counters.keyFramesRequested)
        set("recording_tap_bytes", stats.tapBytes)
        set("recording_tap_dropped_total", stats.tapDropped)
        for (reason, count) in Self.gatewayDrops(stats) {
            set("gateway_dropped_total", count, [("reason", reason)])
        }
        for end in LegEnd.allCases {
            set("gateway_legs_ended_total", stats.ended[end] ?? 0, [("reason", end.label)])
        }
    }

    /// Packets that were dropped, or could not be sent.
    static func gatewayDrops(_ stats: GatewayStats) -> [(String, UInt64)] {
        let (dropped, counters) = (stats.dropped, stats.counters)
        return [
            ("unknown_kind", dropped.unknownKind), ("unknown_flow", dropped.unknownFlow), ("stun", dropped.check),
            ("dtls", dropped.record), ("srtp", dropped.secured), ("malformed", counters.malformed),
            ("unknown_stream", counters.unknownStream), ("repeated", counters.repeated),
            ("repair_refused", counters.repairsRejected), ("feedback_refused", counters.feedbackRejected),
            ("over_rate", counters.overRate),
            ("given_up", counters.givenUp), ("not_sent", stats.packetsLost &+ counters.noBuffer),
            ("srtp_refused", stats.packetsRejected),
        ]
    }
}

extension LegEnd {
    /// Its name in labels.
    fileprivate var label: String {
        switch self {
        case .left: "left"
        case .replaced: "replaced"
        case .closed: "closed"
        case .neverConnected: "never_connected"
        case .connectionLost: "connection_lost"
        case .handshakeFailed: "handshake_failed"
        case .wrongCertificate: "wrong_certificate"
        case .stopped: "stopped"
        }
    }
}
