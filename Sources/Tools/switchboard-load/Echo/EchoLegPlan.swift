import DatagramIO
import ICE
import OpenSSLCrypto
import RTP
import SDP
import SecureMedia
import Wire

/// What a leg needs to start: the result of its negotiation.
struct EchoLegPlan: Sendable {
    enum Role: Sendable {
        /// Towards the media gateway: DTLS client, and these candidates are checked, all of one family.
        case controlling(LocalCredentials, RemoteCredentials, candidates: [TransportAddress])
        /// Towards the other side of a call of two: DTLS server.
        case lite(LocalCredentials, remoteUfrag: String)
    }

    let role: Role
    let context: MediaContext
    /// One of these must match the other side's certificate.
    let fingerprints: [CertificateFingerprint]
    let media: EchoMedia
    let sockets: [EchoSocket]
}

/// The part of a negotiation that a later offer may change.
struct EchoMedia: Hashable, Sendable {
    var routes: [EchoRoute]
    var extensions: HeaderExtensionIDs
}

/// What a later offer of the other side changes.
struct EchoChange: Sendable {
    var media: EchoMedia
    /// The own new credentials and the other side's new ufrag, if the offer restarts ICE.
    var restart: (credentials: LocalCredentials, remoteUfrag: String)?
}

/// A socket that is opened where the leg is negotiated, and used by the thread.
final class EchoSocket: Sendable {
    private static let bufferByteCount: Int32 = 1 << 20

    private let socket: DatagramSocket
    let address: TransportAddress

    init(_ address: IPAddress) throws {
        do {
            socket = try DatagramSocket(
                TransportAddress(address, port: 0), .exclusive, receiveBuffer: Self.bufferByteCount)
        } catch {
            throw MediaFailure("no socket on \(address): \(error.description)")
        }
        guard let bound = socket.address else { throw MediaFailure("a socket without an address") }
        self.address = bound
    }

    var descriptor: Int32 { socket.descriptor }
}

extension LocalCredentials {
    /// New random ones.
    static func random() throws -> LocalCredentials {
        guard let random = OpenSSLRandom.bytes(LocalCredentials.randomByteCount),
            let credentials = LocalCredentials(random: random.span.bytes)
        else { throw MediaFailure("OpenSSL has no randomness") }
        return credentials
    }
}

extension EchoLegPlan {
    /// A leg with the media gateway, from its answer.
    init(_ plan: LegPlan, _ context: MediaContext) throws {
        guard let first = plan.candidates.first else { throw MediaFailure("the answer has no candidate") }
        let local: IPAddress = first.address.isLoopback ? first.address : .any(first.address.family)
        self.init(
            role: .controlling(plan.local, plan.remote, candidates: plan.candidates), context: context,
            fingerprints: plan.fingerprints,
            media: EchoMedia(routes: EchoRoute.all(plan), extensions: plan.extensions),
            sockets: [try EchoSocket(local)])
    }
}
