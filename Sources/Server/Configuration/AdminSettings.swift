import Wire

/// The settings of the operator's port.
struct AdminSettings {
    let host: String
    let port: Int
    /// Nil for plain HTTP, which is for loopback alone.
    let certificate: CertificateFiles?
    let knownHosts: KnownHosts

    init(_ configuration: ServerConfiguration) throws {
        host = configuration[\.admin.host]
        port = configuration[\.admin.port]
        certificate = try CertificateFiles(configuration, of: .admin)
        for name in configuration[\.admin.hosts] where !KnownHosts.isName(name) {
            throw ConfigurationError(
                "admin.hosts: \(name) is not a host: expected a name or an address without a port, such as "
                    + "ops.example.com.")
        }
        knownHosts = KnownHosts([host] + configuration[\.admin.hosts])
        guard certificate != nil || KnownHosts.isLoopback(host) else {
            throw ConfigurationError(
                "admin.host: \(host) is not a loopback address, and off loopback the operator's port speaks HTTPS alone: "
                    + "set admin.certificate and admin.privateKey. Or leave admin.host at 127.0.0.1, and reach it "
                    + "through an SSH tunnel (ssh -L \(port):127.0.0.1:\(port)).")
        }
    }
}
