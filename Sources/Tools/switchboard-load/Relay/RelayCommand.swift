import ArgumentParser
import Foundation
import Wire

/// `switchboard-load relay`: allocations relay packets to a peer and back, or sources flood the relay with junk.
struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay",
        abstract: "Allocations relay packets through the TURN server at a chosen rate.",
        discussion: """
            Each allocation binds a channel to a peer of this program, which sends every packet back. Loss and both \
            latencies (client to peer, and there and back) are measured:

              switchboard-load relay --server 127.0.0.1:3478 --user alice --password wonderland --allocations 100 --rate 50

            The peer's address must be one that the server relays to, and relay.limits apply to the load too. Over TLS \
            and DTLS any certificate is accepted. With --rate 0 every client sends as fast as its packets come back; a \
            rate that this program or the server cannot keep shows as loss and as latency. With --flood, junk and \
            unauthenticated requests are sent instead, from many addresses of 127/8 when the server is on loopback.
            """)

    @Option(help: "The relay's address and port.")
    var server = "127.0.0.1:3478"

    @Option(help: "How the clients reach the relay: udp, tcp, tls or dtls. The peer is reached over UDP.")
    var transport = LoadTransport.udp

    @Option(help: "A user of relay.users.")
    var user: String?

    @Option(help: "The user's password.")
    var password: String?

    @Option(help: "One of relay.secrets, instead of a user.")
    var secret: String?

    @Option(help: "How many allocations.")
    var allocations = 100

    @Option(help: "Packets that each client sends in a second; 0: as fast as they come back.")
    var rate = 50.0

    @Option(help: "Bytes in each packet, at least 24.")
    var payload = 160

    @Option(help: "Seconds to measure.")
    var duration = 10.0

    @Option(help: "Send this many junk packets instead.")
    var flood: Int?

    @Option(help: "How many sources the flood comes from.")
    var sources = 1000

    @Option(help: "Seed of the flood's junk.")
    var seed: UInt64 = 1

    @Option(help: "The server's process id, to measure its CPU time.")
    var pid: Int?

    @Option(help: "Write the results to this file, as JSON.")
    var json: String?

    func validate() throws {
        guard (1...100_000).contains(allocations), (1...100_000).contains(sources) else {
            throw ValidationError("--allocations and --sources must be 1 to 100000.")
        }
        guard (0...1_000_000).contains(rate), (24...1400).contains(payload), (0.1...86_400).contains(duration) else {
            throw ValidationError("--rate must be 0 to 1000000, --payload 24 to 1400, --duration 0.1 to 86400 seconds.")
        }
        guard flood != nil || (user != nil && password != nil) != (secret != nil) else {
            throw ValidationError("Give --user and --password, or --secret.")
        }
        guard flood == nil || transport == .udp else {
            throw ValidationError("--flood only sends over UDP: omit --transport.")
        }
        _ = try address()
    }

    private func address() throws -> TransportAddress {
        guard let colon = server.lastIndex(of: ":"), let port = UInt16(server[server.index(after: colon)...]),
            let address = IPAddress(server[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]")))
        else {
            throw ValidationError("--server must be an IP address and a port, such as 127.0.0.1:3478 or [::1]:3478.")
        }
        return TransportAddress(address, port: port)
    }

    func run() async throws {
        let server = try address()
        if let flood {
            var junk = try RelayFlood(server, sources: sources, seed: seed)
            let sent = junk.send(flood)
            print("\(sent.packets) packets sent from \(sources) sources, \(sent.responses) answered")
            return
        }
        let credential = try RelayCredential(user: user, password: password, secret: secret)
        var run = try RelayRun.make(
            transport, server, credential: credential, allocations: allocations, rate: rate, payload: payload,
            seconds: duration, processID: pid)
        let report = try run.run()
        print(report.table)
        if let json { try report.json.write(to: URL(fileURLWithPath: json)) }
        if report.received == 0 { throw ExitCode(1) }
    }
}
