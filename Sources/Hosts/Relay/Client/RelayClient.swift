import DatagramIO
import OpenSSLCrypto
package import TURN
package import Wire

/// A TURN client on a real connection that sends one request at a time and waits for the response.
package struct RelayClient: ~Copyable {
    package enum Failure: Error, Hashable {
        case connection(RelayConnection.Failure)
        /// Connected, but no response arrived.
        case silent
        case refused(TURNClient.Request, UInt16)
        case credentialsRefused
    }

    package struct Payload: Hashable, Sendable {
        package let bytes: [UInt8]
        package let channel: UInt16?
    }

    private var connection: RelayConnection
    private var client: TURNClient
    private var payloads: [Payload] = []

    package init(
        _ connection: consuming RelayConnection, _ credential: TURNClient.Credential,
        retransmissionSchedule: TURNClient.RetransmissionSchedule = TURNClient.RetransmissionSchedule()
    ) throws(Failure) {
        guard let authentication = OpenSSLAuthentication(), let seed = OpenSSLRandom.integer() else {
            throw .connection(.other("OpenSSL is out of memory"))
        }
        let isReliable = connection.transport == .tcp || connection.transport == .tls
        self.connection = connection
        client = TURNClient(
            credential, isReliable: isReliable, retransmissionSchedule: retransmissionSchedule, seed: seed,
            authentication)
    }

    package var local: TransportAddress { connection.local }
    /// The realm of the server's challenge.
    package var realm: String { client.realm }

    package mutating func ask(_ request: TURNClient.Request) throws(Failure) -> TURNClient.Response {
        try send(client.begin(request, at: SystemClock.now()))
        while true {
            let deadline = client.deadline ?? SystemClock.now()
            if let message = try receive(until: deadline) {
                switch client.receive(message.span.bytes, at: SystemClock.now()) {
                case .nothing: break
                case .send(let retry): try send(retry)
                case .answered(let response): return response
                case .refused(let error): throw .refused(request, error)
                case .credentialsRefused: throw .credentialsRefused
                case .payload(let range, let channel): keep(message, range, channel)
                }
            }
            switch client.advance(to: SystemClock.now()) {
            case .wait: break
            case .send(let retransmission): try send(retransmission)
            case .timedOut: throw .silent
            }
        }
    }

    package func send(_ payload: [UInt8], on channel: UInt16) throws(Failure) {
        try send(TURNClient.channelData(channel, payload))
    }

    /// The next packet of a peer, nil when none came in time.
    package mutating func receivePayload(milliseconds: UInt64) throws(Failure) -> Payload? {
        let deadline = SystemClock.now().adding(nanoseconds: milliseconds * 1_000_000)
        while true {
            if !payloads.isEmpty { return payloads.removeFirst() }
            guard let message = try receive(until: deadline) else { return nil }
            if case .payload(let range, let channel) = client.receive(message.span.bytes, at: SystemClock.now()) {
                keep(message, range, channel)
            }
        }
    }

    private mutating func keep(_ message: [UInt8], _ range: Range<Int>, _ channel: UInt16?) {
        guard range.upperBound <= message.count else { return }
        payloads.append(Payload(bytes: Array(message[range]), channel: channel))
    }

    private func send(_ bytes: [UInt8]) throws(Failure) {
        do throws(RelayConnection.Failure) {
            try connection.send(bytes)
        } catch {
            throw .connection(error)
        }
    }

    private mutating func receive(until deadline: Instant) throws(Failure) -> [UInt8]? {
        do throws(RelayConnection.Failure) {
            return try connection.receive(until: deadline)
        } catch {
            throw .connection(error)
        }
    }
}
