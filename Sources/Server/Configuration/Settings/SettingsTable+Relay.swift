extension SettingsTable {
    /// The STUN and TURN server.
    struct Relay: Sendable {
        /// Who is given relay credentials.
        enum CredentialPolicy: String, CaseIterable, Sendable {
            case scoped, open
        }

        let port = Setting<Int>("relay.port", default: 3478, in: SettingsTable.ports, "Port of STUN and TURN.")
        let listen = Setting<[String]>(
            "relay.listen", default: [],
            "Addresses that relay and media gateway listen on; empty: every address of the machine, also those that it "
                + "gets later; the gateway leaves out loopback.")
        let tlsPorts = Setting<[Int]>(
            "relay.tlsPorts", default: [5349], in: SettingsTable.ports,
            "Ports of TURN over TLS and DTLS, opened when there is a certificate. relay.port speaks both, too."
        ).live
        let certificate = Setting<String>(
            "relay.certificate", default: "",
            "PEM file with the certificate chain of TURN over TLS and DTLS; empty: that of http.certificate."
        ).live.file
        let privateKey = Setting<String>(
            "relay.privateKey", default: "",
            "PEM file with that certificate's private key."
        ).live.file
        let proxyProtocol = Setting<[String]>(
            "relay.proxyProtocol", default: [],
            "Addresses or ranges of load balancers that begin TCP connections with a PROXY header, version 2.")
        let realm = Setting<String>("relay.realm", default: "switchboard", "Realm of the relay's credentials.")
        let users = Setting<[String: String]>(
            "relay.users", default: [:],
            "Long-term users of the relay, as name: password. They do not expire."
        ).live.secret
        let secrets = Setting<[String]>(
            "relay.secrets", default: [],
            "Shared secrets of ephemeral credentials, the newest first; empty: one is made and kept in storage.path."
        ).live.secret
        let externalAddress = Setting<String>(
            "relay.externalAddress", default: "",
            "Address under which clients reach the relay, where the machine is behind a one-to-one NAT.")
        let credentials = Setting<CredentialPolicy>(
            "relay.credentials", default: .scoped, oneOf: CredentialPolicy.allCases,
            "Which users get relay credentials from this server: scoped: users who are in a call, or test the "
                + "relay for a minute; open: every user, for an app with its own signalling."
        ).live
        let peers = RelayPeers()
        let minPort = Setting<Int>(
            "relay.minPort", default: 49152, in: 1024...65535,
            "First port that is relayed from.")
        let maxPort = Setting<Int>("relay.maxPort", default: 65535, in: 1024...65535, "Last port that is relayed from.")
        let oauthKeys = Setting<[String: String]>(
            "relay.oauthKeys", default: [:],
            "Keys shared with authorization servers (RFC 7635), as id: base64 of 16 or 32 bytes. Tokens name the realm."
        ).live.secret
        let alternateServer = Setting<[String]>(
            "relay.alternateServer", default: [],
            "Relay that clients are sent to while this one drains or is full, as address:port, one of each family."
        ).live
        let mobility = Setting<Bool>(
            "relay.mobility", default: true,
            "Whether an allocation follows its client to a new address (RFC 8016).")
        let natDiscovery = Setting<Bool>(
            "relay.natDiscovery", default: false,
            "NAT behaviour discovery (RFC 5780) on the first two addresses, on relay.port and the UDP port after it. "
                + "They are those of the start.")
        let workers = Setting<Int>(
            "relay.workers", default: 0, in: 0...256,
            "Threads of the relay; 0: one for each core.")
        let pinThreads = Setting<Bool>(
            "relay.pinThreads", default: false,
            "Bind each of these threads to a core. For machines that do little else: a busy core is not evaded.")
        let limits = RelayLimits()
    }

    /// The addresses that may be relayed to.
    struct RelayPeers: Sendable {
        let allow = Setting<[String]>(
            "relay.peers.allow", default: [],
            "Special-purpose ranges to which the relay may relay nevertheless, such as 192.168.0.0/16."
        ).live
        let deny = Setting<[String]>(
            "relay.peers.deny", default: [],
            "Ranges that are never relayed to, whatever relay.peers.allow says, such as 198.18.7.0/24."
        ).live
    }

    /// Limits of the relay.
    struct RelayLimits: Sendable {
        let connections = Setting<Int>(
            "relay.limits.connections", default: 15000, in: 1...1_000_000,
            "TCP and TLS connections in total, a quarter of them for one address."
        ).live
        let messageSeconds = Setting<Int>(
            "relay.limits.messageSeconds", default: 10, in: 1...3600,
            "Seconds that a TCP client without an allocation has until its next whole message."
        ).live
        let idleSeconds = Setting<Int>(
            "relay.limits.idleSeconds", default: 60, in: 1...3600,
            "Seconds after which a TCP connection or DTLS session without an allocation is closed in any case."
        ).live
        let dtlsSessions = Setting<Int>(
            "relay.limits.dtlsSessions", default: 20000, in: 1...1_000_000,
            "DTLS sessions in total."
        ).live
        let dtlsHandshakes = Setting<Int>(
            "relay.limits.dtlsHandshakes", default: 512, in: 1...100_000,
            "DTLS handshakes under way at a time for each thread of the relay, a quarter of them for one address."
        ).live
        let dtlsHandshakesPerSecond = Setting<Int>(
            "relay.limits.dtlsHandshakesPerSecond", default: 100, in: 0...1_000_000,
            "DTLS handshakes a second for each /24, and five times as many at once, by each thread. 0: no limit."
        ).live
        let dtlsHandshakeSeconds = Setting<Int>(
            "relay.limits.dtlsHandshakeSeconds", default: 15, in: 1...3600,
            "Seconds that a DTLS handshake may take."
        ).live
        let allocations = Setting<Int>(
            "relay.limits.allocations", default: 15000, in: 1...1_000_000,
            "Allocations in total."
        ).live
        let allocationsPerUser = Setting<Int>(
            "relay.limits.allocationsPerUser", default: 64, in: 1...1_000_000,
            "Allocations for each user."
        ).live
        let bytesPerSecond = Setting<Int>(
            "relay.limits.bytesPerSecond", default: 12_500_000, in: SettingsTable.rates,
            "Payload that an allocation relays each way, in bytes a second; more is dropped, or waits over "
                + "TCP. 0: no limit."
        ).live
        let userBytesPerSecond = Setting<Int>(
            "relay.limits.userBytesPerSecond", default: 12_500_000, in: SettingsTable.rates,
            "Payload of all allocations of a user with credentials of this server, both ways, in bytes a "
                + "second. 0: no limit."
        ).live
        let totalBytesPerSecond = Setting<Int>(
            "relay.limits.totalBytesPerSecond", default: 0, in: SettingsTable.rates,
            "Payload of all allocations, both ways, in bytes a second; more is dropped. 0: no limit."
        ).live
        let packetsPerSecond = Setting<Int>(
            "relay.limits.packetsPerSecond", default: 10_000, in: SettingsTable.rates,
            "Packets that an allocation relays each way a second; more are dropped. 0: no limit."
        ).live
        let newPeersPerSecond = Setting<Int>(
            "relay.limits.newPeersPerSecond", default: 10, in: SettingsTable.rates,
            "Addresses that an allocation opens to a second, ten times as many at once; more are refused. 0: no limit."
        ).live
    }
}
