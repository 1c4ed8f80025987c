import DatagramIO
import Foundation
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// `switchboard check`: tests the relay over every configured transport, and reports what does not work.
package struct RelayCheck {
    /// What the command line may add.
    package struct Options: Sendable {
        /// The only address to test.
        package var address: String?
        /// The host name that clients use, for certificates.
        package var name: String?
        /// A PEM file of authorities to trust beside the system's.
        package var authorities: String?
        /// A STUN server elsewhere, as `host:port`, that reports this machine's public address.
        package var stun: String?

        package init() {}
    }

    private static let user = "switchboard-check"
    private static let credentialSeconds: Int64 = 600
    /// An expiry so far in the future that a wrong clock is not the reason for a rejection.
    private static let longLivedSeconds: Int64 = 400 * 86_400

    private let configuration: ServerConfiguration
    private let relay: RelaySettings
    private let secret: String
    private let options: Options
    private let targets: [CheckTarget]
    private var warnings: [String] = []

    /// Throws if the configuration is not valid.
    package init(_ configuration: ServerConfiguration, _ options: Options) throws {
        self.configuration = configuration
        self.options = options
        let file = configuration[\.storage.path] + "/relay-secret"
        relay = try RelaySettings(configuration, hasFiles: false) { try RelaySecretFile.read(path: file) }
        secret = relay.configuration.secrets.first ?? ""
        let address = try options.address.map { text in
            guard let address = IPAddress(text) else {
                throw ConfigurationError("--address \(text) is not an IP address.")
            }
            return address
        }
        targets = CheckTarget.all(relay, at: address)
    }

    /// Prints a line for each transport, then the warnings. Returns false if a transport fails.
    package mutating func run(print: (String) -> Void) async -> Bool {
        var failures = 0
        for target in targets {
            switch check(target) {
            case .success(let message): print("\(target.label): works, \(message)")
            case .failure(let problem):
                failures += 1
                print("\(target.label): FAILS: \(problem.message)")
            }
        }
        if let problem = externalAddressError() {
            failures += 1
            print(problem)
        }
        await collectServerWarnings()
        for warning in warnings { print("Warning: \(warning)") }
        print(failures == 0 ? "Everything works." : "\(failures) of \(targets.count) checks failed.")
        return failures == 0
    }

    private struct CheckError: Error {
        let message: String
    }

    private mutating func check(_ target: CheckTarget) -> Result<String, CheckError> {
        do throws(RelayProbe.Failure) {
            let outcome = try probe(target, seconds: Self.credentialSeconds).run()
            if let certificate = outcome.certificate {
                let now = SystemClock.unixSeconds()
                if let problem = CheckMessages.certificateError(certificate, name: options.name, at: now) {
                    return .failure(CheckError(message: problem))
                }
                addWarning(CheckMessages.warning(certificate, target, at: now))
            }
            return evaluate(outcome, target)
        } catch {
            if error == .credentialsRefused, isClockWrong(target) {
                return .failure(
                    CheckError(
                        message:
                            "the server refuses credentials that are good for ten minutes and accepts those that are "
                            + "good for a year: its clock is ahead of this machine's. Set both by NTP."))
            }
            return .failure(CheckError(message: CheckMessages.explain(error, target, configuration)))
        }
    }

    private mutating func evaluate(_ outcome: RelayProbe.Outcome, _ target: CheckTarget) -> Result<String, CheckError> {
        let relayed = outcome.relayed.address
        let expected = relay.configuration.externalAddresses.map(\.external).filter { $0.family == relayed.family }
        if !expected.isEmpty, !expected.contains(relayed), !relayed.isLoopback {
            return .failure(
                CheckError(
                    message: "the server gives clients \(relayed), but relay.externalAddress is "
                        + "\(expected.map { "\($0)" }.joined(separator: ", ")): restart it with this configuration."))
        }
        if outcome.isOpenToPeers == false {
            return .failure(
                CheckError(
                    message:
                        "the relay grants a port, but a peer's packet to \(outcome.relayed) does not arrive: a "
                        + "firewall drops UDP ports \(configuration[\.relay.minPort]) to "
                        + "\(configuration[\.relay.maxPort])."))
        }
        if expected.isEmpty, PeerPolicy.isSpecialPurpose(relayed) {
            addWarning(
                "Clients are given the address \(relayed), which cannot be reached from outside this network. Behind a "
                    + "NAT, set relay.externalAddress.")
        }
        let time = String(format: "%.2f", outcome.milliseconds)
        return .success("\(time) ms through two relays and back, relayed from \(relayed)")
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

    /// Compares relay.externalAddress with the address that a STUN server elsewhere reports.
    private func externalAddressError() -> String? {
        guard let text = options.stun else { return nil }
        guard let server = TransportAddress(hostAndPort: text) else {
            return "STUN \(text): FAILS: --stun takes an IP address and a port, such as 203.0.113.7:3478."
        }
        let nobody = TURNClient.Credential(username: "", password: "")
        guard let connection = try? RelayConnection.open(.udp, to: server),
            var client = try? RelayClient(connection, nobody),
            let seen = (try? client.ask(.binding))?.mapped?.address
        else { return "STUN \(text): FAILS: no response, so the public address is not known." }
        let own = relay.configuration.externalAddresses.map(\.external).filter { $0.family == seen.family }
        guard !own.isEmpty, !own.contains(seen) else { return nil }
        return "STUN \(text): FAILS: this machine is seen as \(seen), but relay.externalAddress is "
            + "\(own.map { "\($0)" }.joined(separator: ", ")): clients are sent to the wrong address."
    }

    private mutating func collectServerWarnings() async {
        guard options.address == nil else { return }
        let path = configuration[\.storage.path] + "/control.sock"
        let response = try? await ControlClient.send(.systemWarnings, at: path)
        for warning in response?.lines ?? [] { addWarning(warning) }
    }

    private mutating func addWarning(_ warning: String?) {
        if let warning, !warnings.contains(warning) { warnings.append(warning) }
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
