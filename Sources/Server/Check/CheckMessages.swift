import DatagramIO
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// Messages of `switchboard check`: what a failure means, and what to do.
enum CheckMessages {
    /// How many days before its expiry a certificate causes a warning.
    private static let warningDays: Int64 = 14

    static func explain(_ failure: RelayProbe.Failure, _ target: CheckTarget, _ configuration: ServerConfiguration)
        -> String
    {
        let port = "\(target.transport.carrier) port \(target.address.port)"
        switch failure {
        case .connection(.refused):
            return "nothing listens there. "
                + (target.isExternal
                    ? externalAdvice(target)
                    : "Is the server running, and "
                        + "are relay.listen and relay.port what it was started with?")
        case .connection(.timedOut), .connection(.unreachable), .noResponse:
            return "no response. A firewall drops \(port), or there is no route to \(target.address.address). "
                + (target.isExternal ? externalAdvice(target) : "Open the port on this machine.")
        case .connection(.closed):
            return tooFewConnections(target, configuration)
                ?? "the connection is closed at once: relay.limits.connections "
                + "(\(configuration[\.relay.limits.connections])) is reached, or another program listens on "
                + "\(port)."
        case .connection(.other(let message)): return "\(message)."
        case .connection(.handshake(nil)):
            return tooFewConnections(target, configuration)
                ?? "connected, but no \(target.transport.name) handshake: another program listens on \(port), or it "
                + "has no certificate."
        case .connection(.handshake(let message?)):
            return
                "the \(target.transport.name) handshake fails (\(message)): check the relay's certificate and key, and "
                + "that \(port) is not another program's."
        case .credentialsRefused:
            return
                "the server refuses credentials that were signed with this configuration's secret. It runs with other "
                + "relay.secrets (`switchboard reload` applies these), or another server listens on \(port)."
        case .refused(let request, let error): return explain(request, error, configuration)
        case .notRelayed:
            return "everything is granted, but no packet passes through the relays: a firewall on the server drops UDP "
                + "between its own ports \(configuration[\.relay.minPort]) and "
                + "\(configuration[\.relay.maxPort])."
        case .malformedResponse:
            return "the responses are not those of a TURN server: another program listens on \(port)."
        }
    }

    /// The check holds two connections at a time, as a call between two clients does. Each thread of the relay has its
    /// share of the limit, and both connections may come to the same thread.
    private static func tooFewConnections(_ target: CheckTarget, _ configuration: ServerConfiguration) -> String? {
        let all = configuration[\.relay.limits.connections]
        let configured = configuration[\.relay.workers]
        let threads = configured == 0 ? ProcessorCount.available : configured
        guard target.transport.isStream, all / threads < 2 else { return nil }
        return "the relay closes the connection, since relay.limits.connections (\(all)) leaves each of its \(threads) "
            + "threads a share of \(max(1, all / threads)): raise it to at least \(2 * threads), better to some for "
            + "each client."
    }

    private static func externalAdvice(_ target: CheckTarget) -> String {
        "Is relay.externalAddress (\(target.address.address)) really this machine's public address, and does the "
            + "router forward the port? Some routers do not support hairpinning: then run "
            + "`switchboard check --address \(target.address.address)` on another machine."
    }

    private static func explain(
        _ request: TURNClient.Request, _ error: UInt16, _ configuration: ServerConfiguration
    ) -> String {
        switch (request, error) {
        case (.allocate, 300): "the server redirects clients (300), as it does while draining."
        case (.allocate, 486): "the check's own user has too many allocations (486): wait until earlier checks expire."
        case (.allocate, 508):
            "the server has no capacity for an allocation (508): it is draining, relay.limits.allocations is reached, "
                + "or no port from \(configuration[\.relay.minPort]) to "
                + "\(configuration[\.relay.maxPort]) is free."
        case (.allocate, 440): "the server does not relay this address family (440): it has no such address."
        case (.permit, 403), (.bindChannel, 403):
            "the server forbids its own relay as a peer (403): calls between two relayed clients fail. Is "
                + "relay.externalAddress what the server was started with?"
        default: "the server refuses with error \(error)."
        }
    }

    /// Why clients reject a certificate; nil if they accept it.
    static func certificateError(_ certificate: PeerCertificate, name: String?, at unixSeconds: Int64) -> String? {
        if certificate.validUntil <= unixSeconds {
            return "the certificate expired \(days(unixSeconds - certificate.validUntil)) ago: renew it, then "
                + "`switchboard reload`."
        }
        if certificate.validFrom > unixSeconds {
            return "the certificate is valid only in \(days(certificate.validFrom - unixSeconds)): is the clock right?"
        }
        if let name, !certificate.matchesName {
            return "the certificate is not for \(name) but for \(list(certificate.names)): clients reject it."
        }
        if let trustError = certificate.trustError {
            return
                "clients do not trust the certificate (\(trustError)): use one of a public authority with the whole "
                + "chain in the file, or name your own authority with --authorities."
        }
        return nil
    }

    /// A warning about a certificate that clients accept.
    static func warning(_ certificate: PeerCertificate, _ target: CheckTarget, at unixSeconds: Int64) -> String? {
        if !certificate.matchesName {
            return
                "The certificate on \(target.label) is for \(list(certificate.names)): clients must use that name, not "
                + "\(target.address.address). Check it with --name."
        }
        let left = certificate.validUntil - unixSeconds
        return left < warningDays * 86_400 ? "The certificate on \(target.label) expires in \(days(left))." : nil
    }

    private static func days(_ seconds: Int64) -> String {
        let (count, unit) = seconds < 2 * 86_400 ? (seconds / 3600, "hours") : (seconds / 86_400, "days")
        return "\(count) \(unit)"
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "no name" : names.joined(separator: ", ") }
}
