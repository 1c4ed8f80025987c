import DatagramIO
import Foundation
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// `switchboard check`: has the relay do a little of everything, over every transport that is configured, and tells in
/// words what does not work.
package struct RelayCheck {
    /// What the command line may add.
    package struct Options: Sendable {
        /// The only address to try.
        package var address: String?
        /// The host name that clients are given, for certificates.
        package var name: String?
        /// A PEM file of authorities to trust beside the system's.
        package var authorities: String?
        /// A STUN server elsewhere, `host:port`, that says what address this machine has outside.
        package var stun: String?

        package init() {}
    }

    private static let user = "switchboard-check"
    private static let credentialSeconds: Int64 = 600
    /// An expiry so far off that it is not the clock when the server refuses it.
    private static let clocklessSeconds: Int64 = 400 * 86_400

    private let configuration: ServerConfiguration
    private let relay: RelaySettings
    private let secret: String
    private let options: Options
    private let targets: [CheckTarget]
    private var warnings: [String] = []

    /// Throws what is wrong with the configuration.
    package init(_ configuration: ServerConfiguration, _ options: Options) throws {
        self.configuration = configuration
        self.options = options
        let file = configuration.text("storage.path") + "/relay-secret"
        relay = try RelaySettings(configuration, hasFiles: false) { try RelaySecretFile.read(path: file) }
        secret = relay.configuration.secrets.first ?? ""
        let address = try options.address.map { text in
            guard let address = IPAddress(text) else { throw ConfigurationError("--address \(text) is no IP address.") }
            return address
        }
        targets = CheckTarget.all(relay, at: address)
    }

    /// Prints a line for each transport, then what should be looked at. False when a transport fails.
    package mutating func run(print: (String) -> Void) async -> Bool {
        var failures = 0
        for target in targets {
            switch check(target) {
            case .success(let words): print("\(target.words): works, \(words)")
            case .failure(let fault):
                failures += 1
                print("\(target.words): FAILS: \(fault.words)")
            }
        }
        if let fault = outsideFault() {
            failures += 1
            print(fault)
        }
        await askServer()
        for warning in warnings { print("Warning: \(warning)") }
        print(failures == 0 ? "Everything works." : "\(failures) of \(targets.count) checks failed.")
        return failures == 0
    }

    private struct Fault: Error {
        let words: String
    }

    private mutating func check(_ target: CheckTarget) -> Result<String, Fault> {
        do throws(RelayProbe.Failure) {
            let outcome = try probe(target, seconds: Self.credentialSeconds).run()
            if let certificate = outcome.certificate {
                if let fault = CheckWords.fault(certificate, name: options.name, at: SystemClock.unixSeconds()) {
                    return .failure(Fault(words: fault))
                }
                note(CheckWords.warning(certificate, target, at: SystemClock.unixSeconds()))
            }
            return judge(outcome, target)
        } catch {
            if error == .credentialsRefused, isClockWrong(target) {
                return .failure(
                    Fault(
                        words:
                            "the server refuses credentials that are good for ten minutes and accepts those that are "
                            + "good for a year: its clock is ahead of this machine's. Set both by NTP."))
            }
            return .failure(Fault(words: CheckWords.explain(error, target, configuration)))
        }
    }

    private mutating func judge(_ outcome: RelayProbe.Outcome, _ target: CheckTarget) -> Result<String, Fault> {
        let relayed = outcome.relayed.address
        let expected = relay.configuration.externalAddresses.map(\.external).filter { $0.family == relayed.family }
        if !expected.isEmpty, !expected.contains(relayed), !relayed.isLoopback {
            return .failure(
                Fault(
                    words: "the server tells clients \(relayed), but relay.externalAddress is "
                        + "\(expected.map { "\($0)" }.joined(separator: ", ")): restart it with this configuration."))
        }
        if outcome.isOpenToPeers == false {
            return .failure(
                Fault(
                    words:
                        "the relay grants a port, but a peer's packet to \(outcome.relayed) does not come in: a firewall "
                        + "drops UDP ports \(configuration.integer("relay.minPort")) to "
                        + "\(configuration.integer("relay.maxPort"))."))
        }
        if expected.isEmpty, PeerPolicy.isSpecialPurpose(relayed) {
            note(
                "Clients are told the address \(relayed), which nobody outside of this network can reach. Behind a NAT, set "
                    + "relay.externalAddress.")
        }
        let time = String(format: "%.2f", outcome.milliseconds)
        return .success("\(time) ms through two relays and back, relayed from \(relayed)")
    }

    /// A server whose clock is ahead finds a new credential expired already.
    private func isClockWrong(_ target: CheckTarget) -> Bool {
        (try? probe(target, seconds: Self.clocklessSeconds).run()) != nil
    }

    private func probe(_ target: CheckTarget, seconds: Int64) -> RelayProbe {
        let made = EphemeralCredential.make(
            secret: secret, user: Self.user, expiresAt: SystemClock.unixSeconds() + seconds)
        return RelayProbe(
            target: target,
            credential: TURNClient.Credential(username: made?.username ?? "", password: made?.password ?? ""),
            name: options.name, authorities: options.authorities)
    }

    /// Asks a STUN server elsewhere what this machine's address is, and compares.
    private func outsideFault() -> String? {
        guard let text = options.stun else { return nil }
        guard let server = TransportAddress(hostAndPort: text) else {
            return "STUN \(text): FAILS: --stun takes an IP address and a port, such as 203.0.113.7:3478."
        }
        let nobody = TURNClient.Credential(username: "", password: "")
        guard let connection = try? RelayConnection.open(.udp, to: server),
            var client = try? RelayClient(connection, nobody),
            let seen = (try? client.ask(.binding))?.mapped?.address
        else { return "STUN \(text): FAILS: no answer, so the address outside is not known." }
        let own = relay.configuration.externalAddresses.map(\.external).filter { $0.family == seen.family }
        guard !own.isEmpty, !own.contains(seen) else { return nil }
        return "STUN \(text): FAILS: this machine is seen as \(seen), but relay.externalAddress is "
            + "\(own.map { "\($0)" }.joined(separator: ", ")): clients are sent to the wrong address."
    }

    private mutating func askServer() async {
        guard options.address == nil else { return }
        let path = configuration.text("storage.path") + "/control.sock"
        let answer = try? await ControlClient.ask(.systemWarnings, at: path)
        for warning in answer?.lines ?? [] { note(warning) }
    }

    private mutating func note(_ warning: String?) {
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
