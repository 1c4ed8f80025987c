import Foundation

/// The parsed address of a server.
struct ServerAddress: Hashable, Sendable {
    var isSecure: Bool
    var host: String
    var port: Int
    /// The path before `/v1`, without a trailing slash.
    var path: String

    /// Parses an address such as `https://calls.example.org` or `http://127.0.0.1:8080/switchboard`.
    init(_ text: String) throws(SwitchboardError) {
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            scheme == "https" || scheme == "http", let host = components.host, !host.isEmpty
        else { throw .invalidArgument("\(text) is not an http or https address") }
        isSecure = scheme == "https"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = components.port ?? (isSecure ? 443 : 80)
        path = components.path.hasSuffix("/") ? String(components.path.dropLast()) : components.path
    }

    /// The host and, if it is not the default, the port.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    func url(_ route: String) -> String {
        "\(isSecure ? "https" : "http")://\(authority)\(path)\(route)"
    }
}
