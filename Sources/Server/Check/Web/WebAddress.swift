import Foundation
import NIOCore
import Wire

/// Where the API is reached: scheme, host, port, and the path that a proxy puts before every route.
struct WebAddress: Hashable, Sendable, CustomStringConvertible {
    let isSecure: Bool
    /// A name or an address, without brackets.
    let host: String
    let port: UInt16
    /// Empty, or with a slash at its beginning and none at its end.
    let path: String

    init(isSecure: Bool, host: String, port: UInt16, path: String = "") {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// An http or https URL, such as `https://calls.example.org`; nil for anything else.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", var host = parts.host, !host.isEmpty, parts.user == nil,
            parts.query == nil, parts.fragment == nil
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard let port = UInt16(exactly: parts.port ?? (scheme == "https" ? 443 : 80)), port > 0 else { return nil }
        var path = parts.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        self.init(isSecure: scheme == "https", host: host, port: port, path: path)
    }

    /// The value of the Host header.
    var authority: String {
        let shown = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? shown : "\(shown):\(port)"
    }

    var description: String { "\(isSecure ? "https" : "http")://\(authority)\(path)" }

    /// The name for SNI; nil for an address.
    var serverName: String? { IPAddress(host) == nil ? host : nil }

    /// The first address of the host, from DNS or /etc/hosts.
    func resolve() throws(WebConnection.Failure) -> TransportAddress {
        if let address = IPAddress(host) { return TransportAddress(address, port: port) }
        let found: NIOCore.SocketAddress
        do {
            found = try NIOCore.SocketAddress.makeAddressResolvingHost(host, port: Int(port))
        } catch {
            throw .unknownHost
        }
        guard let address = found.ipAddress.flatMap({ IPAddress($0) }) else { throw .unknownHost }
        return TransportAddress(address, port: port)
    }
}
