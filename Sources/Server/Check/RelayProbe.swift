import DatagramIO
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// Does once, over one transport, what a call does: asks for the own address, makes two allocations that know each other,
/// and has packets relayed from one to the other and back.
struct RelayProbe {
    struct Outcome {
        let relayed: TransportAddress
        /// The address that the server sees this machine under.
        let mapped: TransportAddress
        let local: TransportAddress
        /// The shortest of some round trips through both relays.
        let milliseconds: Double
        let certificate: ShownCertificate?
        /// Whether a packet from outside of the relay came in; nil where the server does not allow this peer.
        let isOpenToPeers: Bool?
    }

    enum Failure: Error, Hashable {
        case connection(RelayConnection.Failure)
        case silent
        case refused(TURNClient.Request, UInt16)
        case credentialsRefused
        /// Everything was granted, and nothing came through.
        case notRelayed
        /// The server answered without the attribute that the answer is for.
        case senseless
    }

    private static let channel: UInt16 = 0x4000
    private static let rounds = 5
    private static let waitMilliseconds: UInt64 = 1_000
    /// 3.75 seconds in all.
    private static var patience: TURNClient.Patience {
        var patience = TURNClient.Patience()
        patience.pauseMilliseconds = 250
        patience.attempts = 4
        return patience
    }

    let target: CheckTarget
    let credential: TURNClient.Credential
    let name: String?
    let authorities: String?

    func run() throws(Failure) -> Outcome {
        var certificate: ShownCertificate?
        var first = try connect(&certificate)
        let mapped = try ask(&first, .binding).mapped
        var second = try connect(&certificate)
        defer {
            // What was taken is given back, also after a failure.
            _ = try? first.ask(.refresh(seconds: 0))
            _ = try? second.ask(.refresh(seconds: 0))
        }
        let family = target.address.address.family
        let atFirst = try ask(&first, .allocate(family)).relayed
        let atSecond = try ask(&second, .allocate(family)).relayed
        guard let mapped, let atFirst, let atSecond else { throw .senseless }
        _ = try ask(&first, .permit(atSecond))
        _ = try ask(&first, .bindChannel(Self.channel, atSecond))
        _ = try ask(&second, .permit(atFirst))
        _ = try ask(&second, .bindChannel(Self.channel, atFirst))
        let milliseconds = try roundTrip(&first, &second)
        return Outcome(
            relayed: atFirst, mapped: mapped, local: first.local, milliseconds: milliseconds,
            certificate: certificate, isOpenToPeers: try receivesFromOutside(&first, mapped, atFirst))
    }

    private func connect(_ certificate: inout ShownCertificate?) throws(Failure) -> RelayClient {
        let connection: RelayConnection
        do throws(RelayConnection.Failure) {
            connection = try RelayConnection.open(
                target.transport, to: target.address, name: name, authorities: authorities)
        } catch {
            throw .connection(error)
        }
        certificate = connection.certificate
        do throws(RelayClient.Failure) {
            return try RelayClient(connection, credential, patience: Self.patience)
        } catch {
            throw Failure(error)
        }
    }

    private func ask(
        _ client: inout RelayClient, _ request: TURNClient.Request
    ) throws(Failure) -> TURNClient.Answer {
        do throws(RelayClient.Failure) {
            return try client.ask(request)
        } catch {
            throw Failure(error)
        }
    }

    private func roundTrip(_ first: inout RelayClient, _ second: inout RelayClient) throws(Failure) -> Double {
        var shortest: UInt64?
        do throws(RelayClient.Failure) {
            for round in 0..<Self.rounds {
                let payload = Array("switchboard check \(round)".utf8)
                let start = SystemClock.now()
                try first.send(payload, on: Self.channel)
                guard try second.receivePayload(milliseconds: Self.waitMilliseconds)?.bytes == payload else { continue }
                try second.send(payload, on: Self.channel)
                guard try first.receivePayload(milliseconds: Self.waitMilliseconds)?.bytes == payload else { continue }
                shortest = min(shortest ?? .max, SystemClock.now().nanoseconds(since: start))
            }
        } catch {
            throw Failure(error)
        }
        guard let shortest else { throw .notRelayed }
        return Double(shortest) / 1_000_000
    }

    /// Sends a packet to the relayed address as a peer would, from outside of the server where this machine is outside.
    private func receivesFromOutside(
        _ client: inout RelayClient, _ mapped: TransportAddress, _ relayed: TransportAddress
    ) throws(Failure) -> Bool? {
        do throws(RelayClient.Failure) {
            // The server may forbid this machine as a peer, and does so for private addresses.
            _ = try client.ask(.permit(mapped))
        } catch {
            if case .refused = error { return nil }
            throw Failure(error)
        }
        let payload = Array("switchboard check, from a peer".utf8)
        for _ in 0..<Self.rounds {
            guard let peer = try? ClientSocket(.datagram, to: relayed, milliseconds: 1000),
                (try? peer.send(payload, milliseconds: 1000)) != nil
            else { return false }
            do throws(RelayClient.Failure) {
                if try client.receivePayload(milliseconds: Self.waitMilliseconds)?.bytes == payload { return true }
            } catch {
                throw Failure(error)
            }
        }
        return false
    }
}

extension RelayProbe.Failure {
    init(_ failure: RelayClient.Failure) {
        self =
            switch failure {
            case .connection(let failure): .connection(failure)
            case .silent: .silent
            case .refused(let request, let error): .refused(request, error)
            case .credentialsRefused: .credentialsRefused
            }
    }
}
