package import Model
package import NIOCore
import Synchronization

/// Realtime for clients behind proxies that block WebSockets: the server's frames are server-sent events, and each
/// frame of the client is a POST request.
///
/// It is independent of HTTP: the routes `POST /v1/realtime/sse` and `POST /v1/realtime/sse/{session}` call `open` and
/// `post`.
package final class EventStreamHandler: Sendable {
    private let hub: RealtimeHub
    private let services: RealtimeServices
    private let lastLoop = Atomic(0)
    private let sessions = Mutex<[SessionID: NIOLoopBound<Session>]>([:])

    package init(hub: RealtimeHub, services: RealtimeServices) {
        self.hub = hub
        self.services = services
    }

    /// Opens a session with the inner object of a hello; its result has the id 0 and is the first frame.
    ///
    /// - Parameter receive: Receives the body, after the client's address was admitted.
    ///
    /// Throws `Problem`: an invalid or rejected hello is a plain HTTP error.
    package func open(
        from origin: SessionOrigin, hello receive: () async throws -> ByteBuffer
    ) async throws -> EventStream {
        try services.authenticator.admit(from: origin)
        let hello = try ClientFrame.parseHello(try Self.text(try await receive()), resumptions: hub.limits.listens)
        let admitted = try await services.authenticator.admit(hello)
        let turn = lastLoop.wrappingAdd(1, ordering: .relaxed).newValue
        let loop = hub.shards[turn % hub.shards.count].loop
        return try await loop.submit {
            let transport = EventStreamTransport(loop: loop, origin: origin)
            guard let session = self.hub.open(on: loop, transport: transport, services: self.services) else {
                throw Problem(.unavailable, "The server cannot open a session now.")
            }
            transport.begin(session) { [weak self] in
                self?.sessions.withLock { $0[session.id] = nil }
            }
            self.sessions.withLock { $0[session.id] = NIOLoopBound(session, eventLoop: loop) }
            session.receive(hello, admitted: admitted)
            return transport.stream
        }.get()
    }

    /// Passes a frame of the client to its session, which sends the result on its stream.
    package func post(_ frame: ByteBuffer, to id: SessionID, principal: Principal) async throws {
        let text = try Self.text(frame)
        guard text.count <= hub.limits.inboundBytes else {
            throw Problem(.payloadTooLarge, "A frame can have at most \(hub.limits.inboundBytes) bytes.")
        }
        guard let bound = sessions.withLock({ $0[id] }) else { throw Problem.notFound("session", field: "session") }
        try await bound.eventLoop.submit {
            let session = bound.value
            guard session.principal?.user == principal.user else { throw Problem.notFound("session", field: "session") }
            session.receive(text)
        }.get()
    }

    private static func text(_ buffer: ByteBuffer) throws -> [UInt8] {
        let text = Array(buffer.readableBytesView)
        guard String(validating: text, as: UTF8.self) != nil else {
            throw Problem(.invalidRequest, "The body is not UTF-8.")
        }
        return text
    }
}

/// The transport of a session whose client reads server-sent events.
private final class EventStreamTransport: SessionTransport {
    let stream: EventStream
    let origin: SessionOrigin
    private let box: NIOLoopBoundBox<Attachment?>

    /// What to release at the end.
    private struct Attachment {
        var session: Session
        var ended: () -> Void
    }

    init(loop: any EventLoop, origin: SessionOrigin) {
        self.origin = origin
        let box = NIOLoopBoundBox<Attachment?>(nil, eventLoop: loop)
        self.box = box
        stream = EventStream(loop: loop) { change in
            switch change {
            case .drained: box.value?.session.transportChanged()
            case .abandoned: Self.close(box)
            }
        }
    }

    func begin(_ session: Session, ended: @escaping () -> Void) {
        box.value = Attachment(session: session, ended: ended)
    }

    private static func close(_ box: NIOLoopBoundBox<Attachment?>) {
        guard let attachment = box.value else { return }
        box.value = nil
        attachment.session.transportClosed()
        attachment.ended()
    }

    var isWritable: Bool { stream.isWritable }
    var unsentBytes: Int { stream.unsentBytes }
    func send(_ frame: OutboundFrame) { stream.send(frame) }
    /// Each frame reaches the reader when it is sent.
    func flush() {}

    /// The bye is the last event; the response ends when it has been read.
    func close(_ bye: Bye) { stream.finish() }

    func abort() {
        stream.finish()
        Self.close(box)
    }
}
