import DatagramIO
import SDP
import Synchronization
import Wire

/// The door of a Janus with its VideoRoom, over HTTP: for comparison under the same load.
///
/// There a participant has two PeerConnections: one that publishes, where we offer, and one that shows the others, where
/// Janus does. Everybody publishes first, so that nobody has to be added later. Events are read by long polls, one after
/// the other and only while one is awaited; Janus has to run with `session_timeout = 0`.
final class JanusDoor: MediaDoor {
    private static let path = "/janus"
    /// Seconds: a long poll takes up to thirty.
    private static let patience: UInt32 = 40
    /// What Janus says of a publisher that is not connected yet, and for how many seconds it may.
    private static let unready = "No such feed"
    private static let readiness: UInt32 = 5
    private static let plugin = "janus.plugin.videoroom"

    private let http: MediaHTTP
    /// The sessions of each call's seats.
    private let sessions = Mutex<[String: [Int: Session]]>([:])

    /// A participant's session with Janus, and the feed that it publishes.
    private struct Session: Sendable {
        let number: UInt64
        var feed: UInt64?
        /// What it is subscribed with.
        var subscriber: UInt64?
    }

    init(http: MediaHTTP) { self.http = http }

    // MARK: The door

    func begin(_ people: [VirtualUser], video: Bool) async throws -> MediaCall {
        let room = UInt64.random(in: 1..<1 << 50)
        let session = try await open()
        let handle = try await attach(session)
        let made = try await ask(
            session, handle,
            Body(
                request: "create", room: room, publishers: 50, audiolevel_ext: true, audiocodec: "opus",
                videocodec: "vp8", bitrate: 50_000_000))
        guard made.plugindata?.data.videoroom == "created" else { throw MediaFailure("Janus makes no room") }
        let seats = people.map { MediaCall.Seat(person: $0, endpoint: "", secret: "") }
        return MediaCall(id: "\(room)", seats: seats)
    }

    func join(
        _ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        await close(seat, of: call)
        let session = try await open()
        sessions.withLock { $0[call.id, default: [:]][seat] = Session(number: session) }
        guard wishes.audio || wishes.video else { return [] }
        let handle = try await attach(session)
        var sent = wishes
        (sent.audioSlots, sent.videoSlots) = (0, 0)
        // Of both roles it would take the active one.
        let opening = try maker.open(sent, setup: .active)
        let joined = try await ask(
            session, handle, Body(request: "joinandconfigure", room: UInt64(call.id), ptype: "publisher"),
            jsep: JSEP(type: "offer", sdp: opening.offer.text))
        guard let answer = joined.jsep, let feed = joined.plugindata?.data.id else {
            throw MediaFailure("Janus does not take a publisher: \(joined.plugindata?.data.error ?? "")")
        }
        sessions.withLock { $0[call.id]?[seat]?.feed = feed }
        return [try await maker.connect(opening, LegPlan(opening.offer, answer: answer.sdp))]
    }

    func watch(
        _ seat: Int, of call: MediaCall, _ wishes: MediaWishes, _ maker: LegMaker
    ) async throws -> [LegMaker.Leg] {
        let seats = sessions.withLock { $0[call.id] ?? [:] }
        let feeds = seats.filter { $0.key != seat }.sorted { $0.key < $1.key }.compactMap(\.value.feed)
        guard let session = seats[seat]?.number, !feeds.isEmpty else { return [] }
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
            } catch let failure as MediaFailure where failure.description.contains(Self.unready) {
                // Our side of its DTLS was done before Janus noticed that its own is.
                guard SystemClock.now().seconds(since: began) < Self.readiness else { throw failure }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        guard let attached = joined else { return [] }
        guard let offer = attached.jsep else {
            throw MediaFailure("Janus does not take a subscriber: \(attached.plugindata?.data.error ?? "")")
        }
        return [
            try await maker.answer(offer.sdp, asked: asked) { answer in
                _ = try await self.ask(
                    session, handle, Body(request: "start", room: UInt64(call.id)),
                    jsep: JSEP(type: "answer", sdp: answer))
            }
        ]
    }

    func leave(_ seat: Int, of call: MediaCall) async throws { await close(seat, of: call) }

    /// Who publishes and who watches is in the room by that.
    func enter(_ seat: Int, of call: MediaCall) async throws {}

    func end(_ call: MediaCall) async {
        for seat in call.seats.indices { await close(seat, of: call) }
    }

    private func close(_ seat: Int, of call: MediaCall) async {
        guard let session = sessions.withLock({ $0[call.id]?.removeValue(forKey: seat) }) else { return }
        // A session that is left behind harms nobody.
        _ = try? await request("\(Self.path)/\(session.number)", Request(janus: "destroy")) as Reply
    }

    // MARK: Its API

    private struct JSEP: Codable, Sendable {
        var type: String
        var sdp: String
    }

    /// The body of a message to the plugin, in its own spelling.
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
        struct PluginData: Decodable { var data: PluginAnswer }
        struct PluginAnswer: Decodable {
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
        guard let number = reply.data?.id else { throw MediaFailure("Janus opens no session") }
        return number
    }

    private func attach(_ session: UInt64) async throws -> UInt64 {
        let reply: Reply = try await request(
            "\(Self.path)/\(session)", Request(janus: "attach", plugin: Self.plugin))
        guard let number = reply.data?.id else { throw MediaFailure("Janus has no VideoRoom") }
        return number
    }

    /// Sends a message to the plugin and waits for what it says to it.
    private func ask(_ session: UInt64, _ handle: UInt64, _ body: Body, jsep: JSEP? = nil) async throws -> Reply {
        let message = Request(janus: "message", body: body, jsep: jsep)
        var reply: Reply = try await request("\(Self.path)/\(session)/\(handle)", message)
        let asked = SystemClock.now()
        while reply.janus != "success", reply.janus != "event" || reply.transaction != message.transaction {
            guard SystemClock.now().seconds(since: asked) < Self.patience else {
                throw MediaFailure("Janus does not answer \(body.request)")
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
