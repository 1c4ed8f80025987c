import DatagramIO
import OpenSSLCrypto
import TURN
import Wire

/// Messages over TCP or TLS, one after the other (RFC 8656 section 12.5: the sender pads them).
final class StreamLink: RelayLink {
    /// The maximum of queued bytes; with more, packets are sent too fast.
    private static let maxQueuedByteCount = 256 * 1024

    private let socket: StreamSocket
    private let session: TLSSession?
    private let buffers: LinkBuffers
    private var outgoing = ByteQueue()
    private var incoming = ByteQueue()
    private(set) var failure: String?

    init(_ socket: consuming StreamSocket, _ context: TLSClientContext?, _ buffers: LinkBuffers) throws {
        self.socket = socket
        self.buffers = buffers
        if let context {
            guard let session = TLSSession(context, name: nil, through: buffers.pipe) else {
                throw RelayLoadFailure(what: "OpenSSL has no memory")
            }
            self.session = session
            // The first read writes the ClientHello.
            decrypt(UnsafeRawBufferPointer(start: nil, count: 0))
            flush()
        } else {
            session = nil
        }
    }

    var descriptor: Int32 { socket.descriptor }
    var isReady: Bool { session?.isEstablished ?? true }
    var canSend: Bool { outgoing.count < Self.maxQueuedByteCount }

    func send(_ message: UnsafeRawBufferPointer) {
        guard let session else { return outgoing.append(message) }
        if !session.write(message) { failure = "a TLS session accepts no more messages" }
        outgoing.append(buffers.pipe.outgoing)
    }

    func flush() {
        while !outgoing.isEmpty {
            guard let count = socket.send(outgoing.bytes) else {
                failure = failure ?? "the server closed a connection"
                return outgoing.removeAll()
            }
            if count == 0 { return }
            outgoing.removeFirst(count)
        }
    }

    func receive(_ handle: (UnsafeRawBufferPointer) -> Void) {
        while true {
            switch socket.receive(into: buffers.raw.bytes) {
            case .nothing: return flush()
            case .end, .broken:
                failure = failure ?? (isReady ? "the server closed a connection" : Self.handshakeError)
                return
            case .bytes(let count):
                let bytes = UnsafeRawBufferPointer(rebasing: buffers.raw.bytes.prefix(count))
                if session == nil { incoming.append(bytes) } else { decrypt(bytes) }
                extractMessages(handle)
            }
        }
    }

    func retransmit() {}

    private static let handshakeError =
        "the server does not agree to TLS: does it have a certificate (relay.certificate)?"

    private func decrypt(_ bytes: UnsafeRawBufferPointer) {
        guard let session else { return }
        session.receive(bytes)
        reading: while true {
            switch session.read(into: buffers.plain.bytes) {
            case .plaintext(let count):
                incoming.append(UnsafeRawBufferPointer(rebasing: buffers.plain.bytes.prefix(count)))
            case .drained: break reading
            case .closed:
                failure = failure ?? "the server ended a TLS session"
                break reading
            case .failed:
                failure = failure ?? Self.handshakeError
                break reading
            }
        }
        outgoing.append(buffers.pipe.outgoing)
    }

    private func extractMessages(_ handle: (UnsafeRawBufferPointer) -> Void) {
        while true {
            guard case .frame(let count) = StreamFraming.next(incoming.bytes.bytes) else {
                if StreamFraming.next(incoming.bytes.bytes) == .malformed { failure = "the server's data is not TURN" }
                return
            }
            handle(UnsafeRawBufferPointer(rebasing: incoming.bytes.prefix(count)))
            incoming.removeFirst(count)
        }
    }
}
