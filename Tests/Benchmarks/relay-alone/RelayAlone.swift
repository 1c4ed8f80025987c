import Glibc
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// The relay without the rest of the server, for benchmarks and by hand.
///
///     relay-alone listen=127.0.0.1 listen=::1 port=3478 user=alice:wonderland secret=… allow=127.0.0.0/8 workers=2 \
///         certificate=both.pem
///
/// Prints `ready PORT`, then handles commands on standard input (`counters`, `revoke USER`) and
/// ends with it.
@main
struct RelayAlone {
    static func main() throws {
        var configuration = RelayConfiguration()
        // Without limits, which are not measured.
        configuration.limits.perAllocation = AllocationLimits()
        for argument in CommandLine.arguments.dropFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, apply(parts[0], parts[1], to: &configuration) else {
                print("not understood: \(argument)")
                return
            }
        }
        let server = try RelayServer(configuration: configuration)
        try server.start()
        print("ready \(server.addresses.first?.port ?? 0)")
        fflush(nil)
        while let line = readLine() {
            handle(line.split(separator: " ").map(String.init), server)
        }
        server.stop()
    }

    private static func apply(_ key: String, _ value: String, to configuration: inout RelayConfiguration) -> Bool {
        switch key {
        case "secret":
            configuration.secrets.append(value)
        case "user":
            let parts = value.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return false }
            configuration.users[parts[0]] = parts[1]
        case "listen":
            guard let address = IPAddress(value) else { return false }
            configuration.listen.append(address)
        case "allow":
            guard let range = AddressRange(value) else { return false }
            configuration.allowedPeers.append(range)
        case "certificate":
            // One file with the chain and the key.
            configuration.certificate = try? ServerCertificate(chainFile: value, keyFile: value)
            return configuration.certificate != nil
        case "external":
            guard let address = ExternalAddress(value) else { return false }
            configuration.externalAddresses.append(address)
        default:
            guard let number = Int(value) else { return false }
            switch key {
            case "port": configuration.port = UInt16(clamping: number)
            case "workers": configuration.workers = number
            case "joins": configuration.joinsDatagrams = number != 0
            case "perUser": configuration.limits.allocationsPerUser = number
            case "handshakes": configuration.limits.handshakesPerSecond = UInt32(clamping: number)
            case "sessionsPerSource": configuration.limits.datagramSessionsPerSource = number
            case "answers": configuration.limits.responsesPerSecond = UInt32(clamping: number)
            default: return false
            }
        }
        return true
    }

    private static func handle(_ words: [String], _ server: RelayServer) {
        switch words.first {
        case "counters": print(server.counters, server.outstanding)
        case "revoke" where words.count == 2: server.revoke(user: words[1])
        default: print("not understood")
        }
        fflush(nil)
    }
}
