import DatagramIO
import OpenSSLCrypto
import Relay
import TURN
import Wire

/// Tests one transport as a call uses it: asks for this machine's address, makes two allocations with permissions for
/// each other, and relays packets from one to the other and back.
struct RelayProbe {
    struct Outcome {
        let relayed: TransportAddress
        /// This machine's address as the server sees it.
        let mapped: TransportAddress
        let local: TransportAddress
        /// The shortest of several round trips through both relays.
        let milliseconds: Double
        let certificate: PeerCertificate?
        /// Whether a packet from outside the relay arrived; nil if the server does not allow this peer.
        let isOpenToPeers: Bool?
    }

    enum Failure: Error, Hashable {
        case connection(RelayConnection.Failure)
        case noResponse
        case refused(TURNClient.Request, UInt16)
        case credentialsRefused
        /// Everything was granted, but no packet was relayed.
        case notRelayed
        /// A response lacks the attribute that it is for.
        case malformedResponse
    }

    private static let channel: UInt16 = 0x4000
    private static let rounds = 5
    private static let timeoutMilliseconds: UInt64 = 1_000
    /// 3.75 seconds in all.
    private static var schedule: TURNClient.RetransmissionSchedule {
        var schedule = TURNClient.RetransmissionSchedule()
        schedule.initialRTOMilliseconds = 250
        schedule.attempts = 4
        return schedule
    }

    let target: CheckTarget
    let credential: TURNClient.Credential
    let name: String?
    let authorities: String?

    func run() throws(Failure) -> Outcome {
        var certificate: PeerCertificate?
        var first = try connect(&certificate)
        let mapped = try ask(&first, .binding).mapped
        var second = try connect(&certificate)
        defer {
            // Releases the allocations, also after a failure.
            _ = try? first.ask(.refresh(seconds: 0))
            _ = try? second.ask(.refresh(seconds: 0))
        }
        let family = target.address.address.family
        let firstRelayed = try ask(&first, .allocate(family)).relayed
        let secondRelayed = try ask(&second, .allocate(family)).relayed
        guard let mapped, let firstRelayed, let secondRelayed else { throw .malformedResponse }
        _ = try ask(&first, .permit(secondRelayed))
        _ = try ask(&first, .bindChannel(Self.channel, secondRelayed))
        _ = try ask(&second, .permit(firstRelayed))
        _ = try ask(&second, .bindChannel(Self.channel, firstRelayed))
        let milliseconds = try roundTrip(&first, &second)
        return Outcome(
            relayed: firstRelayed, mapped: mapped, local: first.local, milliseconds: milliseconds,
            certificate: certificate, isOpenToPeers: try receivesFromOutside(&first, mapped, firstRelayed))
    }

    private func connect(_ certificate: inout PeerCertificate?) throws(Failure) -> RelayClient {
        let connection: RelayConnection
        do throws(RelayConnection.Failure) {
            connection = try RelayConnection.open(
                target.transport, to: target.address, name: name, authorities: authorities)
        } catch {
            throw .connection(error)
        }
        certificate = connection.certificate
        do throws(RelayClient.Failure) {
            return try RelayClient(connection, credential, retransmissionSchedule: Self.schedule)
        } catch {
            throw Failure(error)
        }
    }

    private func ask(
        _ client: inout RelayClient, _ request: TURNClient.Request
    ) throws(Failure) -> TURNClient.Response {
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
                guard try second.receivePayload(milliseconds: Self.timeoutMilliseconds)?.bytes == payload
                else { continue }
                try second.send(payload, on: Self.channel)
                guard try first.receivePayload(milliseconds: Self.timeoutMilliseconds)?.bytes == payload
                else { continue }
                shortest = min(shortest ?? .max, SystemClock.now().nanoseconds(since: start))
            }
        } catch {
            throw Failure(error)
        }
        guard let shortest else { throw .notRelayed }
        return Double(shortest) / 1_000_000
    }

    /// Sends a packet to the relayed address as a peer would, which comes from outside if this is another machine.
    private func receivesFromOutside(
        _ client: inout RelayClient, _ mapped: TransportAddress, _ relayed: TransportAddress
    ) throws(Failure) -> Bool? {
        do throws(RelayClient.Failure) {
            // The server may reject this machine as a peer, and does so for private addresses.
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
                if try client.receivePayload(milliseconds: Self.timeoutMilliseconds)?.bytes == payload { return true }
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
            case .silent: .noResponse
            case .refused(let request, let error): .refused(request, error)
            case .credentialsRefused: .credentialsRefused
            }
    }
}
