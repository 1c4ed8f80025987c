import SDP
import SecureMedia

/// Every setting that Switchboard has, in the order in which Config/switchboard.yaml lists them.
package enum SettingsTable {
    package static let all: [Setting] = http + operation + accounts + calls + voice + transcription + relay + gateway

    package static func setting(_ key: String) -> Setting? { byKey[key] }

    private static let byKey = Dictionary(all.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    private static let ports = 0...65535
    private static let rates = 0...1_000_000_000

    private static let http: [Setting] = [
        Setting("http.host", .text, .text("0.0.0.0"), "Address that the API and the web client listen on."),
        Setting("http.port", .integer(ports), .integer(8080), "Port of the API, the web client and the WebSocket."),
        Setting(
            "http.certificate", .text, .text(""),
            "PEM file with the certificate chain. With it and http.privateKey the port speaks HTTPS."
        ).live.file,
        Setting("http.privateKey", .text, .text(""), "PEM file with the certificate's private key.").live.file,
        Setting(
            "http.allowedOrigins", .texts, .texts([]),
            "Origins, beside the server's own, whose pages may use the API, such as https://app.example.com."),
        Setting(
            "http.trustedProxies", .texts, .texts([]),
            "Addresses or ranges of reverse proxies that say in http.forwardedHeader for whom they ask."),
        Setting(
            "http.forwardedHeader", .choice(["none", "forwarded", "x-forwarded-for"]), .text("none"),
            "Header in which they say it, to which each proxy appends: that of RFC 7239, or X-Forwarded-For."),
        Setting(
            "http.proxyProtocol", .texts, .texts([]),
            "Addresses or ranges of load balancers that begin connections with a PROXY header, version 2, before TLS."),
        Setting(
            "http.limits.connections", .integer(16...1_000_000), .integer(20_000),
            "Connections in total, realtime sessions among them. More are closed at once."),
        Setting(
            "http.limits.connectionsPerAddress", .integer(1...1_000_000), .integer(1500),
            "Connections of one IPv4 address or IPv6 /64; those of http.trustedProxies count in total only."),
        Setting("admin.host", .text, .text("127.0.0.1"), "Address that the operator's pages listen on."),
        Setting("admin.port", .integer(ports), .integer(8081), "Port of /metrics and /admin."),
    ]

    private static let operation: [Setting] = [
        Setting("storage.path", .text, .text("./data"), "Directory of the database, the keys and the control socket."),
        Setting(
            "shutdown.drainSeconds", .integer(0...86_400), .integer(30),
            "How long, after SIGTERM, calls that are relayed may go on before the server ends."),
        Setting(
            "log.level", .choice(["trace", "debug", "info", "notice", "warning", "error", "critical"]), .text("info"),
            "The least important level that is logged."
        ).live,
        Setting(
            "log.format", .choice(["console", "json"]), .text("console"), "How log lines look, on standard error."),
    ]

    private static let accounts: [Setting] = [
        Setting(
            "accounts.signUp", .choice(["open", "invite", "closed"]), .text("open"),
            "Who may sign up: anybody, holders of an invite (`switchboard account invite`), or nobody."),
        Setting(
            "accounts.issuers", .records(["issuer", "audience", "jwksURL"]), .records([]),
            "Outside OpenID Connect issuers whose tokens are accepted, each with issuer, audience and jwksURL."),
        Setting(
            "accounts.signUpsPerHour", .integer(1...1_000_000), .integer(60), "Sign-ups for each address and hour."
        ).live,
    ]

    private static let calls: [Setting] = [
        Setting(
            "calls.ringSeconds", .integer(10...120), .integer(60), "How long a call rings unless the caller says so."),
        Setting(
            "calls.setupSeconds", .integer(1...120), .integer(20),
            "How long after the accept the parties may take to connect; thrice that through the gateway."),
        Setting(
            "calls.leaseSeconds", .integer(1...300), .integer(30),
            "How long a participant of whom nothing is heard stays in the call."),
        Setting("calls.maxParticipants", .integer(2...50), .integer(50), "Participants in one call."),
        Setting(
            "limits.callsPerMinute", .integer(1...1_000_000), .integer(30), "Calls that a user may create a minute."
        ).live,
        Setting(
            "limits.signalsPerMinute", .integer(1...1_000_000), .integer(600), "Signals that a user may send a minute."
        ).live,
        Setting(
            "limits.voiceMessagesPerMinute", .integer(1...1_000_000), .integer(30),
            "Voice messages that a user may send a minute."
        ).live,
        Setting(
            "limits.photosPerMinute", .integer(1...1_000_000), .integer(10), "Photos that a user may upload a minute."
        ).live,
        Setting("limits.searchesPerMinute", .integer(1...1_000_000), .integer(60), "Searches for people a minute.")
            .live,
        Setting(
            "limits.credentialsPerMinute", .integer(1...1_000_000), .integer(30),
            "Relay credentials for a user a minute."
        ).live,
        Setting(
            "limits.sessionsPerUser", .integer(1...1_000_000), .integer(64),
            "Realtime sessions of a user at a time: each tab and each app has one."),
        Setting(
            "limits.requestsPerMinute", .integer(1...10_000_000), .integer(1200),
            "All other requests of a user a minute; all requests of an address together: 20 times as many."
        ).live,
    ]

    private static let voice: [Setting] = [
        Setting(
            "voice.maxBytes", .integer(1024...67_108_864), .integer(8 * 1024 * 1024),
            "Bytes of a voice message, as it is uploaded."),
        Setting("voice.maxSeconds", .integer(1...1800), .integer(300), "Seconds that a voice message lasts."),
        Setting(
            "voice.keepDays", .integer(0...36_500), .integer(0),
            "Days after which voice messages are removed; 0: they are kept for ever."),
        Setting(
            "recordings.maxSeconds", .integer(1...86_400), .integer(4 * 3600),
            "Seconds after which the recording of a call ends by itself."),
        Setting(
            "recordings.keepDays", .integer(0...36_500), .integer(0),
            "Days after which recordings of calls are removed; 0: they are kept for ever."),
        Setting(
            "media.minFreeBytes", .integer(0...1_000_000_000_000), .integer(256 * 1024 * 1024),
            "Bytes that stay free on the disk of storage.path: with less, nothing more is recorded or uploaded."),
        Setting(
            "media.userBytes", .integer(0...1_000_000_000_000_000), .integer(5 * 1024 * 1024 * 1024),
            "Bytes of files that may count for one user: what they sent, and what they had recorded. 0: as many as there "
                + "is room for."),
        Setting(
            "media.linkSeconds", .integer(60...86_400), .integer(3600),
            "How long the address of a sound is good for, of a voice message or of a recording."),
    ]

    private static let transcription: [Setting] = [
        Setting(
            "transcription.provider", .choice(["none", "openai", "command", "webhook"]), .text("none"),
            "Who writes down what is said: an endpoint like OpenAI's, a program, a webhook, or nobody."),
        Setting(
            "transcription.url", .text, .text(""),
            "Address of the webhook, or of the endpoint up to its version, such as https://api.openai.com/v1."),
        Setting("transcription.model", .text, .text("whisper-1"), "Model that the endpoint is asked for."),
        Setting("transcription.apiKey", .text, .text(""), "Key of the endpoint, sent as a bearer token.").secret,
        Setting(
            "transcription.language", .text, .text(""),
            "Language that is spoken, such as en; empty: the provider finds out."),
        Setting(
            "transcription.command", .texts, .texts([]),
            "Program and its arguments; {file} is a WAV file, else PCM comes on its input. Empty: Debian's pocketsphinx."
        ),
        Setting(
            "transcription.webhookSecret", .text, .text(""),
            "Secret by which requests to the webhook are signed, 16 bytes or more."
        ).secret,
        Setting(
            "transcription.allowPrivateAddresses", .boolean, .boolean(false),
            "Whether the webhook may be at an address that is not of the open Internet."),
        Setting(
            "transcription.recordings", .boolean, .boolean(false),
            "Whether recordings of calls are written down when they end; else when somebody asks for it."),
        Setting(
            "transcription.concurrency", .integer(1...64), .integer(2),
            "Pieces of speech that are written down at a time."),
        Setting(
            "transcription.queueLength", .integer(0...10_000), .integer(64), "Pieces that may wait; more are refused."),
        Setting(
            "transcription.timeoutSeconds", .integer(1...3600), .integer(60),
            "Seconds that the provider may take for a piece, each time it is asked."),
    ]

    private static let relay: [Setting] = [
        Setting("relay.port", .integer(ports), .integer(3478), "Port of STUN and TURN."),
        Setting(
            "relay.listen", .texts, .texts([]),
            "Addresses that the relay listens on; empty: every address of the machine."),
        Setting(
            "relay.tlsPorts", .integers(ports), .integers([5349]),
            "Ports of TURN over TLS and DTLS, opened when there is a certificate. relay.port speaks both, too."
        ).live,
        Setting(
            "relay.certificate", .text, .text(""),
            "PEM file with the certificate chain of TURN over TLS and DTLS; empty: that of http.certificate."
        ).live.file,
        Setting("relay.privateKey", .text, .text(""), "PEM file with that certificate's private key.").live.file,
        Setting(
            "relay.proxyProtocol", .texts, .texts([]),
            "Addresses or ranges of load balancers that begin TCP connections with a PROXY header, version 2."),
        Setting("relay.realm", .text, .text("switchboard"), "Realm of the relay's credentials."),
        Setting(
            "relay.users", .map, .map([:]), "Long-term users of the relay, as name: password. They do not expire."
        ).live.secret,
        Setting(
            "relay.secrets", .texts, .texts([]),
            "Shared secrets of ephemeral credentials, the newest first; empty: one is made and kept in storage.path."
        ).live.secret,
        Setting(
            "relay.externalAddress", .text, .text(""),
            "Address under which clients reach the relay, where the machine is behind a one-to-one NAT."),
        Setting(
            "relay.credentials", .choice(["scoped", "open"]), .text("scoped"),
            "Whom this server gives relay credentials: scoped: who is in a call, or tries the relay for a minute; "
                + "open: every user, for an app with signalling of its own."
        ).live,
        Setting(
            "relay.peers.allow", .texts, .texts([]),
            "Special-purpose ranges that may be relayed to all the same, such as 192.168.0.0/16."
        ).live,
        Setting(
            "relay.peers.deny", .texts, .texts([]),
            "Ranges that are never relayed to, whatever relay.peers.allow says, such as 198.18.7.0/24."
        ).live,
        Setting("relay.minPort", .integer(1024...65535), .integer(49152), "First port that is relayed from."),
        Setting("relay.maxPort", .integer(1024...65535), .integer(65535), "Last port that is relayed from."),
        Setting(
            "relay.oauthKeys", .map, .map([:]),
            "Keys shared with authorization servers (RFC 7635), as id: base64 of 16 or 32 bytes. Tokens name the realm."
        ).live.secret,
        Setting(
            "relay.alternateServer", .texts, .texts([]),
            "Relay that clients are sent to while this one drains or is full, as address:port, one of each family."
        ).live,
        Setting(
            "relay.mobility", .boolean, .boolean(true),
            "Whether an allocation follows its client to a new address (RFC 8016)."),
        Setting(
            "relay.natDiscovery", .boolean, .boolean(false),
            "NAT behaviour discovery (RFC 5780) on the first two addresses, on relay.port and the UDP port after it."),
        Setting("relay.workers", .integer(0...256), .integer(0), "Threads of the relay; 0: one for each core."),
        Setting(
            "relay.pinThreads", .boolean, .boolean(false),
            "Bind each of these threads to a core. For machines that do little else: a busy core is not evaded."),
        Setting(
            "relay.limits.connections", .integer(1...1_000_000), .integer(15000),
            "TCP and TLS connections in total, a quarter of them for one address."
        ).live,
        Setting(
            "relay.limits.messageSeconds", .integer(1...3600), .integer(10),
            "Seconds that a TCP client without an allocation has until its next whole message."
        ).live,
        Setting(
            "relay.limits.idleSeconds", .integer(1...3600), .integer(60),
            "Seconds after which a TCP connection or DTLS session without an allocation is closed in any case."
        ).live,
        Setting("relay.limits.dtlsSessions", .integer(1...1_000_000), .integer(20000), "DTLS sessions in total.").live,
        Setting(
            "relay.limits.dtlsHandshakes", .integer(1...100_000), .integer(512),
            "DTLS handshakes under way at a time for each thread of the relay, a quarter of them for one address."
        ).live,
        Setting(
            "relay.limits.dtlsHandshakesPerSecond", .integer(0...1_000_000), .integer(100),
            "DTLS handshakes a second for each /24, and five times as many at once, by each thread. 0: no limit."
        ).live,
        Setting(
            "relay.limits.dtlsHandshakeSeconds", .integer(1...3600), .integer(15),
            "Seconds that a DTLS handshake may take."
        ).live,
        Setting("relay.limits.allocations", .integer(1...1_000_000), .integer(15000), "Allocations in total.").live,
        Setting("relay.limits.allocationsPerUser", .integer(1...1_000_000), .integer(64), "Allocations for each user.")
            .live,
        Setting(
            "relay.limits.bytesPerSecond", .integer(rates), .integer(12_500_000),
            "Payload that an allocation relays each way, in bytes a second; more is dropped, or waits over TCP. 0: no limit."
        ).live,
        Setting(
            "relay.limits.userBytesPerSecond", .integer(rates), .integer(12_500_000),
            "Payload of all allocations of a user with credentials of this server, both ways, in bytes a second. 0: no limit."
        ).live,
        Setting(
            "relay.limits.totalBytesPerSecond", .integer(rates), .integer(0),
            "Payload of all allocations, both ways, in bytes a second; more is dropped. 0: no limit."
        ).live,
        Setting(
            "relay.limits.packetsPerSecond", .integer(rates), .integer(10_000),
            "Packets that an allocation relays each way a second; more are dropped. 0: no limit."
        ).live,
        Setting(
            "relay.limits.newPeersPerSecond", .integer(rates), .integer(10),
            "Addresses that an allocation opens to a second, ten times as many at once; more are refused. 0: no limit."
        ).live,
    ]

    private static let gateway: [Setting] = [
        Setting(
            "gateway.port", .integer(ports), .integer(3480),
            "First UDP port of the media gateway; each of its threads has one, in a row. 0: any that are free."),
        Setting(
            "gateway.srtpProfiles", .texts, .texts(SRTPProfile.preferred.map(\.name)),
            "How media may be encrypted between clients and the gateway, the preferred profile first."),
        Setting(
            "gateway.videoCodecs", .texts, .texts(MediaCodec.videoNames),
            "Video codecs of calls through the gateway: VP8, and others, which are used where everybody has them."),
        Setting("gateway.workers", .integer(0...256), .integer(0), "Threads of the gateway; 0: one for each core."),
        Setting(
            "gateway.limits.trackBitsPerSecond", .integer(rates), .integer(20_000_000),
            "Bits a second of each published track, with all its encodings; more is dropped. 0: no limit."),
        Setting(
            "gateway.limits.trackPacketsPerSecond", .integer(rates), .integer(3_000),
            "Packets a second of each published track; more are dropped. 0: no limit."),
    ]
}
