import DTLS
import DatagramIO
import OpenSSLCrypto
import Wire

/// Messages over UDP, one in each datagram.
final class DatagramLink: RelayLink {
    private let socket: DatagramSocket
    private let server: TransportAddress
    private let buffers: LinkBuffers

    init(_ socket: consuming DatagramSocket, _ server: TransportAddress, _ buffers: LinkBuffers) {
        self.socket = socket
        self.server = server
        self.buffers = buffers
    }

    var descriptor: Int32 { socket.descriptor }
    var isReady: Bool { true }
    var canSend: Bool { true }
    var failure: String? { nil }

    func send(_ message: UnsafeRawBufferPointer) {
        buffers.sending.appendCopy(message.bytes, from: socket.descriptor, to: server)
    }

    func flush() { buffers.sending.flush() }

    func receive(_ handle: (UnsafeRawBufferPointer) -> Void) {
        while true {
            let slots = buffers.received.receive(from: socket.descriptor, limit: ReceiveBatch.capacity)
            for slot in slots { handle(UnsafeRawBufferPointer(buffers.received.datagram(slot))) }
            buffers.received.reset()
            if slots.count < ReceiveBatch.capacity { return }
        }
    }

    func retransmit() {}
}

/// Messages over DTLS, one in each record.
final class SecureDatagramLink: RelayLink {
    private let socket: DatagramSocket
    private let server: TransportAddress
    private let buffers: LinkBuffers
    private var session: DTLSSession?
    private(set) var failure: String?

    init(
        _ socket: consuming DatagramSocket, _ server: TransportAddress, _ context: DTLSContext, _ buffers: LinkBuffers
    ) throws {
        self.socket = socket
        self.server = server
        self.buffers = buffers
        session = DTLSSession.connecting(nil, context, buffers.exchange)
        guard session != nil else { throw RelayLoadFailure(what: "OpenSSL has no memory") }
        flushRecords()
    }

    var descriptor: Int32 { socket.descriptor }
    var isReady: Bool { session?.phase == .established }
    var canSend: Bool { true }

    func send(_ message: UnsafeRawBufferPointer) {
        if session?.write(message) != true { failure = "a DTLS session accepts no more messages" }
        flushRecords()
    }

    func flush() { buffers.sending.flush() }

    func receive(_ handle: (UnsafeRawBufferPointer) -> Void) {
        while true {
            let slots = buffers.received.receive(from: socket.descriptor, limit: ReceiveBatch.capacity)
            for slot in slots { open(UnsafeRawBufferPointer(buffers.received.datagram(slot)), handle) }
            buffers.received.reset()
            if slots.count < ReceiveBatch.capacity { return }
        }
    }

    func retransmit() {
        guard session?.retransmission == 0 else { return }
        if session?.retransmit() == false { failure = "the DTLS handshake gets no response" }
        flushRecords()
        flush()
    }

    /// Decrypts the records of a datagram.
    private func open(_ datagram: UnsafeRawBufferPointer, _ handle: (UnsafeRawBufferPointer) -> Void) {
        var offset = 0
        while let record = RecordHeader(datagram.bytes, at: offset) {
            offset = record.body.upperBound
            let whole = UnsafeRawBufferPointer(rebasing: datagram[record.whole])
            var reading = session?.take(whole, into: buffers.plain.bytes) ?? .nothing
            while case .data(let count) = reading {
                handle(UnsafeRawBufferPointer(rebasing: buffers.plain.bytes.prefix(count)))
                reading = session?.read(into: buffers.plain.bytes) ?? .nothing
            }
            flushRecords()
            switch reading {
            case .nothing, .data: break
            case .closed: failure = "the server ended a DTLS session"
            case .failed: failure = "the server does not agree to DTLS: does it have a certificate (relay.certificate)?"
            }
        }
    }

    private func flushRecords() {
        for index in 0..<buffers.exchange.count {
            buffers.sending.appendCopy(buffers.exchange[index].bytes, from: socket.descriptor, to: server)
        }
        buffers.exchange.removeAll()
    }
}
