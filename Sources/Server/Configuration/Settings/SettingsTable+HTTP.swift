import Realtime

extension SettingsTable {
    /// The port of the API and the web client.
    struct HTTP: Sendable {
        let host = Setting<String>(
            "http.host", default: "0.0.0.0",
            "Address that the API and the web client listen on.")
        let port = Setting<Int>(
            "http.port", default: 8080, in: SettingsTable.ports,
            "Port of the API, the web client and the WebSocket.")
        let certificate = Setting<String>(
            "http.certificate", default: "",
            "PEM file with the certificate chain. With it and http.privateKey the port speaks HTTPS."
        ).live.file
        let privateKey = Setting<String>(
            "http.privateKey", default: "",
            "PEM file with the certificate's private key."
        ).live.file
        let allowedOrigins = Setting<[String]>(
            "http.allowedOrigins", default: [],
            "Origins, beside the server's own, whose pages may use the API, such as https://app.example.com.")
        let trustedProxies = Setting<[String]>(
            "http.trustedProxies", default: [],
            "Addresses or ranges of reverse proxies that say in http.forwardedHeader for whom they ask.")
        let forwardedHeader = Setting<ForwardedHeader>(
            "http.forwardedHeader", default: .none, oneOf: [.none, .forwarded, .xForwardedFor],
            "Header in which they say it, to which each proxy appends: that of RFC 7239, or X-Forwarded-For.")
        let proxyProtocol = Setting<[String]>(
            "http.proxyProtocol", default: [],
            "Addresses or ranges of load balancers that begin connections with a PROXY header, version 2, before TLS.")
        let webDirectory = Setting<String>(
            "http.webDirectory", default: "",
            "Folder of a web client that is served instead of the one in the binary: an index.html and what it loads.")
        let limits = HTTPLimits()
    }

    /// Limits of HTTP connections.
    struct HTTPLimits: Sendable {
        let connections = Setting<Int>(
            "http.limits.connections", default: 20_000, in: 16...1_000_000,
            "Connections in total, realtime sessions among them. More are closed at once.")
        let connectionsPerAddress = Setting<Int>(
            "http.limits.connectionsPerAddress", default: 1500, in: 1...1_000_000,
            "Connections of one IPv4 address or IPv6 /64; those of http.trustedProxies count in total only.")
    }

    /// The operator's port.
    struct Admin: Sendable {
        let host = Setting<String>(
            "admin.host", default: "127.0.0.1",
            "Address that the operator's port listens on. One that is not loopback needs a certificate.")
        let port = Setting<Int>(
            "admin.port", default: 8081, in: SettingsTable.ports, "Port of /metrics and /admin.")
        let hosts = Setting<[String]>(
            "admin.hosts", default: [],
            "Names, beside loopback and admin.host, by which browsers reach /admin, such as ops.example.com.")
        let certificate = Setting<String>(
            "admin.certificate", default: "",
            "PEM file with the certificate chain. With it and admin.privateKey the port speaks HTTPS."
        ).live.file
        let privateKey = Setting<String>(
            "admin.privateKey", default: "",
            "PEM file with the certificate's private key."
        ).live.file
    }
}
