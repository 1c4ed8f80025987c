import Gateway
import MediaGateway
import Metrics

// What the media gateway does, for Prometheus. Labels are bounded: directions, reasons, kinds.

extension OperatorFigures {
    func collect(_ figures: GatewayFigures, _ voices: (open: Int, kept: Int, connected: Int)) {
        set("gateway_legs", figures.legs)
        set("gateway_connected_legs", figures.connectedLegs)
        // A voice message that is being recorded is a call only to the gateway.
        set("gateway_calls", max(0, figures.calls - voices.connected))
        set("voice_recordings", voices.open, [("state", "open")])
        set("voice_recordings", voices.kept, [("state", "kept")])
        set("gateway_tracks", figures.tracks)
        set("gateway_flows", figures.flows)
        set("gateway_connections", figures.connections)
        for (direction, packets, bytes) in [
            ("in", figures.packetsReceived, figures.bytesReceived), ("out", figures.packetsSent, figures.bytesSent),
        ] {
            set("gateway_packets_total", packets, [("direction", direction)])
            set("gateway_bytes_total", bytes, [("direction", direction)])
        }
        set("gateway_checks_answered_total", figures.checksAnswered)
        set("gateway_handshakes_total", figures.handshakes)
        set("gateway_handshakes_delayed_total", figures.handshakesDelayed)
        set("gateway_connections_refused_total", figures.connectionsRefused)
        set("gateway_packets_forwarded_total", figures.tally.forwarded)
        set("gateway_packets_repaired_total", figures.tally.repaired)
        set("gateway_packets_paced_total", figures.tally.waited)
        set("gateway_packets_kept_total", figures.packetsKept)
        set("gateway_unsent_bytes", figures.unsentBytes)
        set("gateway_probes_total", figures.tally.probes)
        set("gateway_probe_packets_total", figures.tally.padded)
        set("gateway_key_frames_asked_total", figures.tally.keyFramesAsked)
        set("recording_tap_bytes", figures.tapBytes)
        set("recording_tap_dropped_total", figures.tapDropped)
        for (reason, count) in Self.gatewayDrops(figures) {
            set("gateway_dropped_total", count, [("reason", reason)])
        }
        for end in LegEnd.allCases {
            set("gateway_legs_ended_total", figures.ended[end] ?? 0, [("reason", end.label)])
        }
    }

    /// Packets that changed nothing, and those that could not be sent.
    static func gatewayDrops(_ figures: GatewayFigures) -> [(String, UInt64)] {
        let (dropped, tally) = (figures.dropped, figures.tally)
        return [
            ("unknown_kind", dropped.unknownKind), ("unknown_flow", dropped.unknownFlow), ("stun", dropped.check),
            ("dtls", dropped.record), ("srtp", dropped.secured), ("malformed", tally.malformed),
            ("unknown_stream", tally.unknownStream), ("repeated", tally.repeated),
            ("repair_refused", tally.repairsRefused), ("feedback_refused", tally.feedbackRefused),
            ("over_rate", tally.overRate),
            ("given_up", tally.givenUp), ("not_sent", figures.packetsLost &+ tally.noRoom),
            ("srtp_refused", figures.packetsRefused),
        ]
    }
}

extension LegEnd {
    /// Its name as labels are written.
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
