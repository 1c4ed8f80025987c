import DatagramIO
import Foundation
import MediaGateway
import Metrics
import Model
import Realtime
import Relay
import Services
import Storage
import Transcription
import WebAPI

/// Metrics that the parts of the server keep themselves, for Prometheus and for the admin page.
struct ServerMetrics: Sendable {
    let hub: RealtimeHub
    let connections: ConnectionLimits
    let relay: RelayServer?
    /// Nil without the api.
    let calls: CallParts?
    let voice: VoiceParts?
    let transcription: TranscriptionQueue?
    /// Nil without the api.
    let translation: (@Sendable () async throws -> TranslationStats)?
    let webhooks: WebhookDispatcher
    /// Nil without the api.
    let push: (@Sendable () async throws -> PushHealth)?
    /// Nil without the api.
    let search: SearchIndexer?
    let written: @Sendable () -> (admitted: Int, refused: Int)
    /// Of the log.
    let lostLines: @Sendable () -> Int
    let registry: PrometheusRegistry
    private let started = Date()

    var startedAt: Timestamp { Timestamp(milliseconds: Int64(started.timeIntervalSince1970 * 1000)) }
    /// Whole seconds since the start.
    var uptime: Int64 { Int64(max(0, Date().timeIntervalSince(started))) }

    init(
        hub: RealtimeHub, connections: ConnectionLimits, relay: RelayServer?, calls: CallParts?, voice: VoiceParts?,
        transcription: TranscriptionQueue?, translation: (@Sendable () async throws -> TranslationStats)?,
        webhooks: WebhookDispatcher, push: (@Sendable () async throws -> PushHealth)?, search: SearchIndexer?,
        written: @escaping @Sendable () -> (admitted: Int, refused: Int), lostLines: @escaping @Sendable () -> Int,
        registry: PrometheusRegistry
    ) {
        self.hub = hub
        self.connections = connections
        self.relay = relay
        self.calls = calls
        self.voice = voice
        self.transcription = transcription
        self.translation = translation
        self.webhooks = webhooks
        self.push = push
        self.search = search
        self.written = written
        self.lostLines = lostLines
        self.registry = registry
    }

    /// Updates the gauges.
    func collect() async {
        let realtime = hub.stats
        set("realtime_sessions", realtime.sessions)
        set("realtime_queued_bytes", realtime.queuedBytes)
        set("realtime_lagging_streams", realtime.laggingStreams)
        set("realtime_frames_in_total", realtime.framesIn)
        set("realtime_frames_out_total", realtime.framesOut)
        set("realtime_events_dropped_total", realtime.eventsDropped)
        set("realtime_bytes_out_total", realtime.bytesOut)
        let written = written()
        set("text_bytes_total", written.admitted)
        set("text_refusals_total", written.refused)
        set("log_lines_lost_total", lostLines())
        if let lag = search?.lag {
            set("search_waiting", lag.conversations)
            set("search_oldest_seconds", lag.seconds)
        }
        for (reason, count) in realtime.byes { set("realtime_byes_total", count, [("reason", reason)]) }
        for (client, count) in realtime.hellos {
            set("realtime_hellos_total", count, [("client", client.rawValue)])
        }
        set("http_connections", connections.stats.open)
        set("http_connections_rejected_total", connections.stats.rejected)
        let load = calls?.timers.load ?? (deadlines: 0, leases: 0)
        set("calls_deadlines", load.deadlines)
        set("calls_joined_participants", load.leases)
        set("process_resident_bytes", ProcessStats.residentBytes)
        set("process_heap_bytes", Heap.usedBytes)
        set("storage_cache_bytes", SQLiteDatabase.cacheBytes)
        set("process_open_descriptors", ProcessStats.openDescriptors)
        set("process_cpu_seconds_total", ProcessStats.cpuSeconds)
        if let relay {
            let counters = relay.counters
            collect(counters)
            collectMore(counters, of: relay)
        }
        if let calls, let gateway = calls.gateway {
            collect(gateway.stats, calls.voiceRecorder.stats)
            set("recording_dropped_total", await gateway.recorder.droppedCount)
        }
        if let queue = transcription { collect(await queue.stats) }
        if let stats = try? await translation?() { collect(stats) }
        if let stats = try? await webhooks.stats() { collect(stats) }
        if let health = try? await push?() { collect(health) }
        if let calls { set("recording_mixes_waiting", calls.mixes.waitingCount) }
        if let voice { set("voice_decodings_waiting", voice.decodingsWaiting) }
    }

    private func collect(_ counters: RelayCounters) {
        for (direction, packets, bytes) in [
            ("from_clients", counters.packetsFromClients, counters.bytesFromClients),
            ("from_peers", counters.packetsFromPeers, counters.bytesFromPeers),
            ("to_clients", counters.packetsToClients, counters.bytesToClients),
            ("to_peers", counters.packetsToPeers, counters.bytesToPeers),
        ] {
            set("relay_packets_total", packets, [("direction", direction)])
            set("relay_bytes_total", bytes, [("direction", direction)])
        }
        set("relay_allocations", counters.allocationsLive)
        set("relay_allocations_made_total", counters.allocationsMade)
        set("relay_connections", counters.connectionsLive)
        set("relay_connections_accepted_total", counters.connectionsAccepted)
        set("relay_tls_handshakes_delayed_total", counters.handshakesDelayed)
        for end in ConnectionCloseReason.allCases {
            set("relay_connections_closed_total", counters.connections(closed: end), [("reason", end.name)])
        }
        set("relay_dtls_sessions", counters.sessionsLive)
        set("relay_dtls_hello_verify_requests_total", counters.hellosAnswered)
        set("relay_dtls_handshakes_total", counters.handshakesCompleted, [("outcome", "completed")])
        set("relay_dtls_handshakes_total", counters.handshakesFailed, [("outcome", "failed")])
        set("relay_allocations_moved_total", counters.allocationsMoved)
        set("relay_bindings_total", counters.bindings)
        set("relay_unauthenticated_responses_total", counters.unauthenticatedAnswers)
        for (reason, count) in Self.reasons(counters) { set("relay_rejected_total", count, [("reason", reason)]) }
        set("relay_receive_calls_total", counters.receiveCalls)
        set("relay_send_calls_total", counters.sendCalls)
    }

    private static func reasons(_ counters: RelayCounters) -> [(String, UInt64)] {
        [
            ("allocations_refused", counters.allocationsRejected), ("refused", counters.rejections),
            ("malformed", counters.droppedMalformed), ("unexpected", counters.droppedUnexpected),
            ("loop", counters.droppedLoop), ("rate_limited", counters.droppedLimited),
            ("client_without_permission", counters.droppedUnpermittedFromClient),
            ("peer_without_permission", counters.droppedUnpermittedFromPeer), ("oversized", counters.droppedOversized),
            ("handed_over", counters.droppedHandedOver), ("redirected", counters.allocationsRedirected),
            ("bandwidth", counters.droppedBandwidth),
            ("packet_rate", counters.droppedPacketRate), ("user_bandwidth", counters.droppedUserBandwidth),
            ("total_bandwidth", counters.droppedTotalBandwidth),
            ("new_peer_rate", counters.rejectedNewPeers), ("icmp_not_forwarded", counters.droppedPeerErrors),
            ("not_sent", counters.droppedSending), ("cryptography", counters.cryptographyFailures),
            ("full_connection", counters.droppedFullConnection),
            ("connections_refused", counters.connectionsRejected), ("dtls_cookie", counters.cookiesRejected),
            ("dtls_sessions", counters.droppedSessionLimit), ("dtls_stray", counters.droppedStrayRecords),
        ]
    }

    /// The data of the admin page; counters are totals since the start.
    var json: JSON {
        let realtime = hub.stats
        let counters = relay?.counters ?? RelayCounters()
        let media = calls?.gateway?.stats ?? GatewayStats()
        let reasons = Self.reasons(counters) + Self.gatewayDrops(media).map { ("gateway_" + $0.0, $0.1) }
        let packets = counters.packetsToClients &+ counters.packetsToPeers
        let bytes = counters.bytesToClients &+ counters.bytesToPeers
        return .object([
            ("version", .text("Switchboard \(ServerVersion.text)")),
            ("at", .integer(Int64(Date().timeIntervalSince1970 * 1000))),
            ("uptime", .number(Date().timeIntervalSince(started))),
            ("calls", .integer(Int64(calls?.timers.liveCalls ?? 0))),
            ("sessions", .integer(Int64(realtime.sessions))),
            ("allocations", .integer(Int64(clamping: counters.allocationsLive))),
            ("packets", .integer(Int64(clamping: packets))), ("bytes", .integer(Int64(clamping: bytes))),
            ("legs", .integer(Int64(media.connectedLegs))),
            ("mediaPackets", .integer(Int64(clamping: media.packetsSent))),
            ("mediaBytes", .integer(Int64(clamping: media.bytesSent))),
            ("requests", .integer(Int64(realtime.framesIn))),
            ("rejected", .integer(Int64(clamping: reasons.reduce(0) { $0 &+ $1.1 }))),
            ("memory", .integer(Int64(ProcessStats.residentBytes))),
            ("reasons", .object(reasons.map { ($0.0, .integer(Int64(clamping: $0.1))) })),
        ])
    }

    func set(_ name: String, _ value: some BinaryInteger, _ labels: [(String, String)] = []) {
        set(name, Double(value), labels)
    }

    func set(_ name: String, _ value: Double, _ labels: [(String, String)] = []) {
        Gauge(label: name, dimensions: labels).record(value)
    }
}
