import DatagramIO
import Relay
import TURN
import Wire

/// Messages about the relay: what a failure means, and what to do.
enum RelayMessages {
    static func problem(
        _ failure: RelayProbe.Failure, _ target: CheckTarget, _ configuration: ServerConfiguration
    ) -> CheckProblem {
        let port = "\(target.transport.carrier) port \(target.address.port)"
        switch failure {
        case .connection(.refused):
            return CheckProblem(
                "nothing listens there",
                remedy: target.isExternal
                    ? externalAdvice(target)
                    : "Is the server running, and are relay.listen and relay.port what it was started with?")
        case .connection(.timedOut), .connection(.unreachable), .noResponse:
            return CheckProblem(
                "no response: a firewall drops \(port), or there is no route to \(target.address.address)",
                remedy: target.isExternal
                    ? "Open \(port) in the firewall. \(externalAdvice(target))" : "Open \(port) in the firewall.")
        case .connection(.closed):
            return tooFewConnections(target, configuration)
                ?? CheckProblem(
                    "the connection is closed at once: relay.limits.connections "
                        + "(\(configuration[\.relay.limits.connections])) is reached, or another program listens on "
                        + port, remedy: "Raise relay.limits.connections, or change relay.port.")
        case .connection(.other(let message)): return CheckProblem(message)
        case .connection(.handshake(nil)):
            return tooFewConnections(target, configuration)
                ?? CheckProblem(
                    "connected, but no \(target.transport.name) handshake",
                    remedy: "Another program listens on \(port), or the server has no certificate: set "
                        + "relay.certificate and relay.privateKey, and `switchboard reload`.")
        case .connection(.handshake(let message?)):
            return CheckProblem(
                "the \(target.transport.name) handshake fails (\(message))",
                remedy: "Check the relay's certificate and key, and that \(port) is not another program's.")
        case .credentialsRefused:
            return CheckProblem(
                "the server refuses credentials that were signed with this configuration's secret",
                remedy: "It runs with other relay.secrets (`switchboard reload` applies these), or another server "
                    + "listens on \(port).")
        case .refused(let request, let error): return problem(request, error, configuration)
        case .notRelayed:
            return CheckProblem(
                "everything is granted, but no packet passes through the relays",
                remedy: "A firewall on the server drops UDP between its own ports \(ports(configuration)): open them.")
        case .malformedResponse:
            return CheckProblem(
                "the responses are not those of a TURN server", remedy: "Another program listens on \(port).")
        }
    }

    /// relay.minPort and relay.maxPort.
    static func ports(_ configuration: ServerConfiguration) -> String {
        "\(configuration[\.relay.minPort]) to \(configuration[\.relay.maxPort])"
    }

    /// The check holds two connections at a time, as a call between two clients does. Each thread of the relay has its
    /// share of the limit, and both connections may come to the same thread.
    private static func tooFewConnections(
        _ target: CheckTarget, _ configuration: ServerConfiguration
    ) -> CheckProblem? {
        let all = configuration[\.relay.limits.connections]
        let configured = configuration[\.relay.workers]
        let threads = configured == 0 ? ProcessorCount.available : configured
        guard target.transport.isStream, all / threads < 2 else { return nil }
        return CheckProblem(
            "the relay closes the connection, since relay.limits.connections (\(all)) leaves each of its \(threads) "
                + "threads a share of \(max(1, all / threads))",
            remedy: "Raise it to at least \(2 * threads), better to some for each client.")
    }

    private static func externalAdvice(_ target: CheckTarget) -> String {
        "Is relay.externalAddress (\(target.address.address)) really this machine's public address, and does the "
            + "router forward the port? Some routers do not support hairpinning: then run "
            + "`switchboard check --address \(target.address.address)` on another machine."
    }

    private static func problem(
        _ request: TURNClient.Request, _ error: UInt16, _ configuration: ServerConfiguration
    ) -> CheckProblem {
        switch (request, error) {
        case (.allocate, 300): CheckProblem("the server redirects clients (300), as it does while draining")
        case (.allocate, 486):
            CheckProblem(
                "the check's own user has too many allocations (486)", remedy: "Wait until earlier checks expire.")
        case (.allocate, 508):
            CheckProblem(
                "the server has no capacity for an allocation (508): it is draining, relay.limits.allocations is "
                    + "reached, or no port from \(ports(configuration)) is free",
                remedy: "`switchboard drain --off` ends draining; otherwise raise the limit, or widen the ports.")
        case (.allocate, 440):
            CheckProblem("the server does not relay this address family (440)", remedy: "It has no such address.")
        case (.permit, 403), (.bindChannel, 403):
            CheckProblem(
                "the server forbids its own relay as a peer (403), so calls between two relayed clients fail",
                remedy: "Is relay.externalAddress what the server was started with?")
        default: CheckProblem("the server refuses with error \(error)")
        }
    }
}
