import DatagramIO

/// Messages about the API's port: what a failure means, and what to do.
struct WebMessages: Sendable {
    let address: WebAddress
    /// Whether the address is one of --url, so that a proxy may be in between.
    let isPublic: Bool

    private var settings: String { "http.host and http.port" }

    func problem(_ failure: WebConnection.Failure) -> CheckProblem {
        let port = "TCP port \(address.port)"
        switch failure {
        case .unknownHost:
            return CheckProblem(
                "the name \(address.host) has no address",
                remedy: isPublic
                    ? "Add it to the DNS, or correct --url." : "Set http.host to an address of this machine.")
        case .socket(.refused):
            return CheckProblem(
                "nothing listens on \(port) of \(address.host)",
                remedy: isPublic
                    ? "Start the proxy, or let --url name its address."
                    : "Is the server running, and are \(settings) what it was started with?")
        case .socket(.timedOut), .socket(.unreachable):
            return CheckProblem(
                "no connection to \(address.host)", remedy: "Open \(port) in the firewall, and check the route there.")
        case .socket(.closed):
            return CheckProblem(
                "the connection is closed at once",
                remedy: "Is http.limits.connections or http.limits.connectionsPerAddress reached? If "
                    + "http.proxyProtocol lists this machine, name the load balancer with --url.")
        case .socket(.other(let message)): return CheckProblem(message)
        case .handshake(let message):
            return CheckProblem(
                "no TLS handshake\(message.map { " (\($0))" } ?? "")",
                remedy: isPublic
                    ? "Check the proxy's certificate and key, or let --url begin with http://."
                    : "Check http.certificate and http.privateKey, and that \(port) is not another program's.")
        case .silent:
            return CheckProblem(
                "connected, but no response", remedy: "Look at the log of what listens on \(port), and restart it.")
        case .malformed:
            return CheckProblem(
                "the response is not HTTP",
                remedy: address.isSecure
                    ? "Another program listens on \(port)."
                    : "Another program listens on \(port), or it speaks TLS: then let --url begin with https://.")
        case .authorities(let message): return CheckProblem(message, remedy: "Correct --authorities.")
        }
    }

    /// What a status other than 200 of a route that always exists means.
    func problem(_ response: WebResponse, of path: String) -> CheckProblem {
        switch response.status {
        case 300..<400:
            CheckProblem(
                "\(path) is redirected to \(response.headers["location"] ?? "another address")",
                remedy: "Clients do not follow it: let --url name where it leads.")
        case 502, 504:
            CheckProblem(
                "the proxy responds with \(response.status) to \(path): it does not reach the server",
                remedy: "Let it forward to \(settings) of this configuration, and start the server.")
        case 429: CheckProblem("too many requests come from this address", remedy: "Wait a minute.")
        default:
            CheckProblem(
                "\(path) responds with \(response.status)",
                remedy: isPublic
                    ? "Let the proxy forward all paths to \(settings) unchanged."
                    : "Another program listens on TCP port \(address.port): change http.port, or end that program.")
        }
    }
}
