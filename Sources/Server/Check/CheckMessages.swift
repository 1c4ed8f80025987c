import DatagramIO
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// What a failure of `switchboard check` means and what to do, in words.
enum CheckWords {
    /// Days before a certificate's end from which its renewal is urged.
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
        case .connection(.timedOut), .connection(.unreachable), .silent:
            return "no answer. A firewall drops \(port), or there is no way to \(target.address.address). "
                + (target.isExternal ? externalAdvice(target) : "Open the port on this machine.")
        case .connection(.closed):
            return tooFewConnections(target, configuration)
                ?? "the connection is closed at once: relay.limits.connections "
                + "(\(configuration.integer("relay.limits.connections"))) is reached, or another program listens on \(port)."
        case .connection(.other(let words)): return "\(words)."
        case .connection(.handshake(nil)):
            return tooFewConnections(target, configuration)
                ?? "connected, but no \(target.transport.words) handshake: another program listens on \(port), or it has no "
                + "certificate."
        case .connection(.handshake(let words?)):
            return
                "the \(target.transport.words) handshake fails (\(words)): check the relay's certificate and key, and "
                + "that \(port) is not another program's."
        case .credentialsRefused:
            return
                "the server refuses credentials that were signed with this configuration's secret. It runs with other "
                + "relay.secrets (`switchboard reload` applies these), or another server answers on \(port)."
        case .refused(let request, let error): return explain(request, error, configuration)
        case .notRelayed:
            return "everything is granted, but no packet comes through the relays: a firewall on the server drops UDP "
                + "between its own ports \(configuration.integer("relay.minPort")) and "
                + "\(configuration.integer("relay.maxPort"))."
        case .senseless: return "the answers are not those of a TURN server: another program listens on \(port)."
        }
    }

    /// The check holds two connections at a time, as a call between two clients does. Each thread of the relay has a share of
    /// all, and both may come to the same one.
    private static func tooFewConnections(_ target: CheckTarget, _ configuration: ServerConfiguration) -> String? {
        let all = configuration.integer("relay.limits.connections")
        let configured = configuration.integer("relay.workers")
        let threads = configured == 0 ? ProcessorCount.available : configured
        guard target.transport.isStream, all / threads < 2 else { return nil }
        return "the relay closes the connection, since relay.limits.connections (\(all)) leaves each of its \(threads) "
            + "threads a share of \(max(1, all / threads)): raise it to at least \(2 * threads), better to some for "
            + "each client."
    }

    private static func externalAdvice(_ target: CheckTarget) -> String {
        "Is relay.externalAddress (\(target.address.address)) really this machine's address outside, and does the router "
            + "pass the port on? Some routers do not lead their outer address back in: then run "
            + "`switchboard check --address \(target.address.address)` on a machine elsewhere."
    }

    private static func explain(
        _ request: TURNClient.Request, _ error: UInt16, _ configuration: ServerConfiguration
    ) -> String {
        switch (request, error) {
        case (.allocate, 300): "the server sends clients elsewhere (300), as it does while draining."
        case (.allocate, 486): "the check's own user has too many allocations (486): wait until earlier checks expire."
        case (.allocate, 508):
            "the server has no room for an allocation (508): it is draining, relay.limits.allocations is reached, or no "
                + "port from \(configuration.integer("relay.minPort")) to \(configuration.integer("relay.maxPort")) is free."
        case (.allocate, 440): "the server does not relay this address family (440): it has no address of it."
        case (.permit, 403), (.bindChannel, 403):
            "the server forbids its own relay as a peer (403): calls between two relayed clients fail. Is "
                + "relay.externalAddress what the server was started with?"
        default: "the server refuses with error \(error)."
        }
    }

    /// What is wrong with a certificate, so that clients refuse it; nil when they accept it.
    static func fault(_ certificate: ShownCertificate, name: String?, at unixSeconds: Int64) -> String? {
        if certificate.validUntil <= unixSeconds {
            return "the certificate expired \(days(unixSeconds - certificate.validUntil)) ago: renew it, then "
                + "`switchboard reload`."
        }
        if certificate.validFrom > unixSeconds {
            return "the certificate is valid only in \(days(certificate.validFrom - unixSeconds)): is the clock right?"
        }
        if let name, !certificate.isForName {
            return "the certificate is not for \(name) but for \(list(certificate.names)): clients refuse it."
        }
        if let distrust = certificate.distrust {
            return
                "clients do not trust the certificate (\(distrust)): use one of a public authority and have the whole "
                + "chain in the file, or give the check your own authority with --authorities."
        }
        return nil
    }

    /// What clients accept, but should be looked at.
    static func warning(_ certificate: ShownCertificate, _ target: CheckTarget, at unixSeconds: Int64) -> String? {
        if !certificate.isForName {
            return
                "The certificate on \(target.words) is for \(list(certificate.names)): clients must use that name, not "
                + "\(target.address.address). Check it with --name."
        }
        let left = certificate.validUntil - unixSeconds
        return left < warningDays * 86_400 ? "The certificate on \(target.words) expires in \(days(left))." : nil
    }

    private static func days(_ seconds: Int64) -> String {
        let (count, unit) = seconds < 2 * 86_400 ? (seconds / 3600, "hours") : (seconds / 86_400, "days")
        return "\(count) \(unit)"
    }

    private static func list(_ names: [String]) -> String { names.isEmpty ? "no name" : names.joined(separator: ", ") }
}
