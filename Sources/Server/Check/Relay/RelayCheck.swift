import DatagramIO
import Foundation
import Relay
import TURN
import Wire

/// The checks of the relay: one for each transport on each address, as a call uses it.
struct RelayCheck: Sendable {
    private static let user = "switchboard-check"
    private static let credentialSeconds: Int64 = 600
    /// An expiry so far in the future that a wrong clock is not the reason for a rejection.
    private static let longLivedSeconds: Int64 = 400 * 86_400

    private let configuration: ServerConfiguration
    private let relay: RelaySettings
    private let secret: String
    private let options: ServerCheck.Options
    private let targets: [CheckTarget]

    /// - Parameter address: the only one to test.
    /// - Throws: if the configuration is not valid, or the secret cannot be read.
    init(_ configuration: ServerConfiguration, _ options: ServerCheck.Options, address: IPAddress?) throws {
        self.configuration = configuration
        self.options = options
        let file = configuration[\.storage.path] + "/relay-secret"
        relay = try RelaySettings(configuration, hasFiles: false) { try RelaySecretFile.read(path: file) }
        secret = relay.configuration.secrets.first ?? ""
        targets = CheckTarget.all(relay, at: address)
    }

    var probes: [CheckProbe] {
        targets.map { target in CheckProbe(.relay, target.label) { self.check(target) } }
    }

    private func check(_ target: CheckTarget) -> CheckOutcome {
        do throws(RelayProbe.Failure) {
            let outcome = try probe(target, seconds: Self.credentialSeconds).run()
            var warnings: [String] = []
            if let certificate = outcome.certificate {
                let now = SystemClock.unixSeconds()
                if let problem = CheckMessages.certificateProblem(certificate, name: options.name, at: now) {
                    return .failed(problem)
                }
                let warning = CheckMessages.warning(
                    certificate, target.label, host: "\(target.address.address)", at: now)
                if let warning { warnings.append(warning) }
            }
            return evaluate(outcome, warnings)
        } catch {
            if error == .credentialsRefused, isClockWrong(target) {
                return .failed(
                    CheckProblem(
                        "the server refuses credentials that are good for ten minutes and accepts those that are good "
                            + "for a year: its clock is ahead of this machine's", remedy: "Set both by NTP."))
            }
            return .failed(RelayMessages.problem(error, target, configuration))
        }
    }

    private func evaluate(_ outcome: RelayProbe.Outcome, _ warnings: [String]) -> CheckOutcome {
        let relayed = outcome.relayed.address
        let expected = relay.configuration.externalAddresses.map(\.external).filter { $0.family == relayed.family }
        if !expected.isEmpty, !expected.contains(relayed), !relayed.isLoopback {
            return .failed(
                CheckProblem(
                    "the server gives clients \(relayed), but relay.externalAddress is "
                        + expected.map { "\($0)" }.joined(separator: ", "),
                    remedy: "Restart it with this configuration."))
        }
        if outcome.isOpenToPeers == false {
            return .failed(
                CheckProblem(
                    "the relay grants a port, but a peer's packet to \(outcome.relayed) does not arrive",
                    remedy: "A firewall drops it: open UDP ports \(RelayMessages.ports(configuration)) (relay.minPort "
                        + "and relay.maxPort)."))
        }
        var warnings = warnings
        if expected.isEmpty, PeerPolicy.isSpecialPurpose(relayed) {
            warnings.append(
                "Clients are given the address \(relayed), which cannot be reached from outside this network. Behind a "
                    + "NAT, set relay.externalAddress.")
        }
        let time = String(format: "%.2f", outcome.milliseconds)
        return .passed("\(time) ms through two relays and back, relayed from \(relayed)", warnings: warnings)
    }

    /// To a server whose clock is ahead, a new credential has expired already.
    private func isClockWrong(_ target: CheckTarget) -> Bool {
        (try? probe(target, seconds: Self.longLivedSeconds).run()) != nil
    }

    private func probe(_ target: CheckTarget, seconds: Int64) -> RelayProbe {
        let generated = EphemeralCredential.make(
            secret: secret, user: Self.user, expiresAt: SystemClock.unixSeconds() + seconds)
        return RelayProbe(
            target: target,
            credential: TURNClient.Credential(username: generated?.username ?? "", password: generated?.password ?? ""),
            name: options.name, authorities: options.authorities)
    }

    // MARK: The external address

    /// Compares relay.externalAddress with the address that a STUN server elsewhere reports.
    ///
    /// - Parameter text: an IP address and a port.
    func compareExternalAddress(withServer text: String) -> CheckOutcome {
        guard let server = TransportAddress(hostAndPort: text) else {
            return .failed(
                CheckProblem("--stun takes an IP address and a port", remedy: "Such as --stun 203.0.113.7:3478."))
        }
        let nobody = TURNClient.Credential(username: "", password: "")
        guard let connection = try? RelayConnection.open(.udp, to: server),
            var client = try? RelayClient(connection, nobody),
            let seen = (try? client.ask(.binding))?.mapped?.address
        else {
            return .failed(
                CheckProblem(
                    "no response, so the public address is not known",
                    remedy: "Name another STUN server, or open outgoing UDP in the firewall."))
        }
        let own = relay.configuration.externalAddresses.map(\.external).filter { $0.family == seen.family }
        guard !own.isEmpty else { return .passed("this machine is seen as \(seen)") }
        guard own.contains(seen) else {
            return .failed(
                CheckProblem(
                    "this machine is seen as \(seen), but relay.externalAddress is "
                        + own.map { "\($0)" }.joined(separator: ", "),
                    remedy: "Clients are sent to the wrong address: correct it and restart the server."))
        }
        return .passed("this machine is seen as \(seen), which is relay.externalAddress")
    }
}

extension TransportAddress {
    /// `203.0.113.7:3478` or `[2001:db8::1]:3478`.
    init?(hostAndPort text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let address = IPAddress(text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]")))
        else { return nil }
        self.init(address, port: port)
    }
}
