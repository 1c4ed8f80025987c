import ArgumentParser
import DatagramIO
import OpenSSLCrypto
import Wire

/// How the clients of a load reach the relay.
enum LoadTransport: String, ExpressibleByArgument, CaseIterable, Sendable {
    case udp
    case tcp
    case tls
    case dtls

    var isStream: Bool { self == .tcp || self == .tls }
}

/// One client's connection to the relay over any transport, which sends and receives whole TURN messages.
///
/// No method blocks. Messages are sent by `flush` at the latest. When the descriptor is readable, the owner calls
/// `receive`, which reads all that is available.
protocol RelayLink: AnyObject {
    var descriptor: Int32 { get }
    /// False during a handshake. Nothing may be sent before.
    var isReady: Bool { get }
    /// False if the send queue is full.
    var canSend: Bool { get }
    /// Why the connection failed; nil while it works.
    var failure: String? { get }

    func send(_ message: UnsafeRawBufferPointer)
    func flush()
    func receive(_ handle: (UnsafeRawBufferPointer) -> Void)
    /// Retransmits handshake messages without a response.
    func retransmit()
}

/// Buffers that the links of one thread share.
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

    let transport: LoadTransport
    let server: TransportAddress
    let buffers: LinkBuffers
    private let streams: TLSClientContext?
    private let datagrams: DTLSContext?

    init(_ transport: LoadTransport, _ server: TransportAddress, _ buffers: LinkBuffers) throws {
        self.transport = transport
        self.server = server
        self.buffers = buffers
        // A load test is for one's own server, so any certificate is accepted.
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
            socket = StreamSocket(adopting: connected.release())
        } catch {
            throw RelayLoadFailure(connecting: server, error)
        }
        socket.prepare(StreamSocket.TCPOptions())
        return try StreamLink(socket, streams, buffers)
    }
}

extension RelayLoadFailure {
    fileprivate init(connecting server: TransportAddress, _ failure: ClientSocket.Failure) {
        what =
            switch failure {
            case .refused: "nothing listens on TCP port \(server.port) of \(server.address): is it relay.port?"
            case .unreachable: "\(server.address) cannot be reached from here"
            case .timedOut: "TCP port \(server.port) of \(server.address) does not respond: does a firewall block it?"
            case .closed: "\(server) closed the connection"
            case .other(let message): "no connection to \(server): \(message)"
            }
    }
}
