import ArgumentParser
import DatagramIO
import OpenSSLCrypto
import Wire

/// How the clients of a load reach the relay.
enum RelayTransport: String, ExpressibleByArgument, CaseIterable, Sendable {
    case udp
    case tcp
    case tls
    case dtls

    var isStream: Bool { self == .tcp || self == .tls }
}

/// One client's way to the relay: whole TURN messages go in and come out, whatever lies in between.
///
/// Nothing here waits. What is sent leaves with `flush` at the latest; whoever hears that the descriptor is readable calls
/// `receive`, which reads it empty.
protocol RelayLink: AnyObject {
    var descriptor: Int32 { get }
    /// False while a handshake lasts. Nothing may be sent before.
    var isReady: Bool { get }
    /// False when so much waits to be sent that more would only get old.
    var hasRoom: Bool { get }
    /// Why it cannot go on, nil while it can.
    var failure: String? { get }

    func send(_ message: UnsafeRawBufferPointer)
    func flush()
    func receive(_ take: (UnsafeRawBufferPointer) -> Void)
    /// Says again what got no answer in a handshake.
    func retransmit()
}

/// What the links of one thread share, one after the other.
final class LinkBuffers {
    var received = ReceiveBatch()
    var sending = SendBatch()
    let pipe = TLSPipe()
    let exchange = DTLSExchange()
    let raw = SharedBuffer(byteCount: 128 * 1024)
    let plain = SharedBuffer(byteCount: DTLSSession.maximumPlaintextByteCount)
}

/// Opens links of one transport.
struct LinkMaker {
    private static let connectMilliseconds: Int32 = 5_000
    private static let receiveBuffer: Int32 = 1 << 20

    let transport: RelayTransport
    let server: TransportAddress
    let buffers: LinkBuffers
    private let streams: TLSClientContext?
    private let datagrams: DTLSContext?

    init(_ transport: RelayTransport, _ server: TransportAddress, _ buffers: LinkBuffers) throws {
        self.transport = transport
        self.server = server
        self.buffers = buffers
        // A load is for one's own server: whoever signed its certificate is taken.
        streams = transport == .tls ? TLSClientContext(authorities: nil) : nil
        datagrams = transport == .dtls ? DTLSContext.client(authorities: nil) : nil
        guard (transport == .tls) == (streams != nil), (transport == .dtls) == (datagrams != nil) else {
            throw RelayLoadFailure(what: "OpenSSL has no memory")
        }
    }

    func open() throws -> any RelayLink {
        guard transport.isStream else {
            let local: IPAddress = server.address.isLoopback ? server.address : .any(server.address.family)
            let socket: DatagramSocket
            do {
                socket = try DatagramSocket(
                    TransportAddress(local, port: 0), .exclusive, receiveBuffer: Self.receiveBuffer)
            } catch {
                throw RelayLoadFailure(what: "no socket: \(error.description); ulimit -n bounds the allocations")
            }
            guard let datagrams else { return DatagramLink(socket, server, buffers) }
            return try SecureDatagramLink(socket, server, datagrams, buffers)
        }
        let socket: StreamSocket
        do throws(ClientSocket.Failure) {
            let connected = try ClientSocket(.stream, to: server, milliseconds: Self.connectMilliseconds)
            socket = StreamSocket(adopting: connected.surrender())
        } catch {
            throw RelayLoadFailure(connecting: server, error)
        }
        socket.prepare(StreamSocket.Patience())
        return try StreamLink(socket, streams, buffers)
    }
}

extension RelayLoadFailure {
    fileprivate init(connecting server: TransportAddress, _ failure: ClientSocket.Failure) {
        what =
            switch failure {
            case .refused: "nothing listens on TCP port \(server.port) of \(server.address): is it relay.port?"
            case .unreachable: "\(server.address) cannot be reached from here"
            case .timedOut: "TCP port \(server.port) of \(server.address) does not answer: does a firewall block it?"
            case .closed: "\(server) closed the connection"
            case .other(let words): "no connection to \(server): \(words)"
            }
    }
}
