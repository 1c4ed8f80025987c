import DatagramIO
import SDP
import Synchronization
import Wire

/// A client of Janus with its VideoRoom, over HTTP, for comparison under the same load.
///
/// In Janus a participant has two PeerConnections: one that publishes, for which the client offers, and one that
/// receives the others, for which Janus offers. Everybody publishes first, so that nobody has to be added later. Events
/// are read by long polls, one at a time and only while one is expected; Janus must run with `session_timeout = 0`.
final class JanusClient: MediaServerClient {
    private static let path = "/janus"
    /// In seconds; a long poll takes up to thirty.
    private static let pollTimeout: UInt32 = 40
    /// The error for a publisher that is not connected yet, and how many seconds it is accepted.
    private static let notReady = "No such feed"
    private static let readyTimeout: UInt32 = 5
    private static let plugin = "janus.plugin.videoroom"

    private let http: MediaHTTP
    /// The sessions of each call's members, by index.
    private let sessions = Mutex<[String: [Int: Session]]>([:])

    /// A participant's session with Janus, and the feed that it publishes.
    private struct Session: Sendable {
        let number: UInt64
        var feed: UInt64?
        /// The handle of its subscriber.
        var subscriber: UInt64?
    }

    init(http: MediaHTTP) { self.http = http }

    // MARK: MediaServerClient

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        let room = UInt64.random(in: 1..<1 << 50)
        let session = try await open()
        let handle = try await attach(session)
        let created = try await ask(
            session, handle,
            Body(
                request: "create", room: room, publishers: 50, audiolevel_ext: true, audiocodec: "opus",
                videocodec: "vp8", bitrate: 50_000_000))
        guard created.plugindata?.data.videoroom == "created" else {
            throw MediaFailure("Janus does not create a room")
        }
        let members = people.map { MediaCall.Member(person: $0, endpoint: "", secret: "") }
        return MediaCall(id: "\(room)", members: members)
    }

    func join(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        await close(index, of: call)
        let session = try await open()
        sessions.withLock { $0[call.id, default: [:]][index] = Session(number: session) }
        guard parameters.audio || parameters.video else { return [] }
        let handle = try await attach(session)
        var sent = parameters
        (sent.audioSlots, sent.videoSlots) = (0, 0)
        // With actpass, Janus would choose the active role.
        let opening = try maker.open(sent, setup: .active)
        let joined = try await ask(
            session, handle, Body(request: "joinandconfigure", room: UInt64(call.id), ptype: "publisher"),
            jsep: JSEP(type: "offer", sdp: opening.offer.text))
        guard let answer = joined.jsep, let feed = joined.plugindata?.data.id else {
            throw MediaFailure("Janus rejects a publisher: \(joined.plugindata?.data.error ?? "")")
        }
        sessions.withLock { $0[call.id]?[index]?.feed = feed }
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: answer.sdp))]
    }

    func watch(
        _ index: Int, of call: MediaCall, _ parameters: MediaParameters, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        let callSessions = sessions.withLock { $0[call.id] ?? [:] }
        let feeds = callSessions.filter { $0.key != index }.sorted { $0.key < $1.key }.compactMap(\.value.feed)
        guard let session = callSessions[index]?.number, !feeds.isEmpty else { return [] }
        let handle = try await attach(session)
        let began = SystemClock.now()
        var asked = began.nanoseconds
        var joined: Reply?
        while joined == nil {
            asked = SystemClock.now().nanoseconds
            do {
                joined = try await ask(
                    session, handle,
                    Body(
                        request: "join", room: UInt64(call.id), ptype: "subscriber",
                        streams: feeds.map { Body.Stream(feed: $0) }))
            } catch let failure as MediaFailure where failure.description.contains(Self.notReady) {
                // Our side of the DTLS handshake was complete before Janus's.
                guard SystemClock.now().seconds(since: began) < Self.readyTimeout else { throw failure }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        guard let attached = joined else { return [] }
        guard let offer = attached.jsep else {
            throw MediaFailure("Janus rejects a subscriber: \(attached.plugindata?.data.error ?? "")")
        }
        return [
            try await maker.answer(offer.sdp, asked: asked) { answer in
                _ = try await self.ask(
                    session, handle, Body(request: "start", room: UInt64(call.id)),
                    jsep: JSEP(type: "answer", sdp: answer))
            }
        ]
    }

    func leave(_ index: Int, of call: MediaCall) async throws { await close(index, of: call) }

    /// Nothing to do: publishing and watching enter the room.
    func enter(_ index: Int, of call: MediaCall) async throws {}

    func end(_ call: MediaCall) async {
        for index in call.members.indices { await close(index, of: call) }
    }

    private func close(_ index: Int, of call: MediaCall) async {
        guard let session = sessions.withLock({ $0[call.id]?.removeValue(forKey: index) }) else { return }
        // A session that is left behind does no harm.
        _ = try? await request("\(Self.path)/\(session.number)", Request(janus: "destroy")) as Reply
    }

    // MARK: Janus API

    private struct JSEP: Codable, Sendable {
        var type: String
        var sdp: String
    }

    /// The body of a message to the plugin, with the plugin's member names.
    private struct Body: Encodable {
        struct Stream: Encodable { var feed: UInt64 }
        var request: String
        var room: UInt64?
        var ptype: String?
        var streams: [Stream]?
        var publishers: Int?
        var audiolevel_ext: Bool?
        var audiocodec: String?
        var videocodec: String?
        var bitrate: Int?
    }

    private struct Request: Encodable {
        var janus: String
        var transaction = UUIDText.make()
        var plugin: String?
        var body: Body?
        var jsep: JSEP?
    }

    private struct Reply: Decodable {
        struct Numbered: Decodable { var id: UInt64 }
        struct Failure: Decodable { var reason: String }
        struct PluginData: Decodable { var data: PluginResponse }
        struct PluginResponse: Decodable {
            var videoroom: String?
            var id: UInt64?
            var error: String?
        }
        var janus: String
        var transaction: String?
        var data: Numbered?
        var error: Failure?
        var plugindata: PluginData?
        var jsep: JSEP?
    }

    private func open() async throws -> UInt64 {
        let reply: Reply = try await request(Self.path, Request(janus: "create"))
        guard let number = reply.data?.id else { throw MediaFailure("Janus does not open a session") }
        return number
    }

    private func attach(_ session: UInt64) async throws -> UInt64 {
        let reply: Reply = try await request(
            "\(Self.path)/\(session)", Request(janus: "attach", plugin: Self.plugin))
        guard let number = reply.data?.id else { throw MediaFailure("Janus has no VideoRoom") }
        return number
    }

    /// Sends a message to the plugin and waits for its response.
    private func ask(_ session: UInt64, _ handle: UInt64, _ body: Body, jsep: JSEP? = nil) async throws -> Reply {
        let message = Request(janus: "message", body: body, jsep: jsep)
        var reply: Reply = try await request("\(Self.path)/\(session)/\(handle)", message)
        let asked = SystemClock.now()
        while reply.janus != "success", reply.janus != "event" || reply.transaction != message.transaction {
            guard SystemClock.now().seconds(since: asked) < Self.pollTimeout else {
                throw MediaFailure("Janus does not respond to \(body.request)")
            }
            reply = try await http.get("\(Self.path)/\(session)")
            if let error = reply.error { throw MediaFailure("Janus: \(error.reason)") }
        }
        if let error = reply.plugindata?.data.error { throw MediaFailure("Janus: \(error)") }
        return reply
    }

    private func request(_ path: String, _ request: Request) async throws -> Reply {
        let reply: Reply = try await http.post(path, request)
        if let error = reply.error { throw MediaFailure("Janus: \(error.reason)") }
        return reply
    }
}
