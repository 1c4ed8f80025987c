import Gateway
import RTP
import Wire

/// Somebody whose camera sends in several encodings, and who answers what is asked of it.
struct Camera {
    struct Layer {
        let rid: String
        let ssrc: UInt32
        let bitsPerSecond: Int
        let height: Int
        var sequence: UInt16
        var wantsKeyFrame = true
        var packetCount = 0
    }

    let client: Client
    var layers: [Layer]
    private var frame: UInt16 = 0
    private var nextFrame: UInt64
    private var random: SeededRandom
    private var asked: [(at: UInt64, ssrc: UInt32)] = []

    init(_ layers: [(rid: String, bitsPerSecond: Int, height: Int)], from now: Instant, seed: UInt64) {
        random = SeededRandom(seed: seed)
        nextFrame = now.nanoseconds
        self.layers = layers.enumerated().map { index, layer in
            Layer(
                rid: layer.rid, ssrc: 71 + UInt32(index), bitsPerSecond: layer.bitsPerSecond, height: layer.height,
                sequence: UInt16(index) &* 20_000 &+ 64_000)
        }
        let isSimple = layers.count == 1
        client = Client(
            video: isSimple ? [71] : [], rids: isSimple ? [] : layers.map(\.rid), audioSlots: 0, videoSlots: 0)
    }

    /// Asked for a key frame of a source, which takes a while to be heard.
    mutating func hear(_ report: [UInt8], at now: UInt64) {
        for layer in layers where report.asksForKeyFrame(of: layer.ssrc) {
            asked.append((now + 20_000_000, layer.ssrc))
        }
    }

    /// The packets of a frame in each encoding, when one is due.
    mutating func shoot(at now: UInt64) -> [[UInt8]] {
        for wish in asked where wish.at <= now {
            for index in layers.indices where layers[index].ssrc == wish.ssrc { layers[index].wantsKeyFrame = true }
        }
        asked.removeAll { $0.at <= now }
        guard now >= nextFrame else { return [] }
        nextFrame += 33_333_333
        frame &+= 1
        var packets: [[UInt8]] = []
        for index in layers.indices {
            let isKey = layers[index].wantsKeyFrame
            layers[index].wantsKeyFrame = false
            let mean = Double(layers[index].bitsPerSecond) / 240 * (isKey ? 4 : 1)
            var left = Int(mean * Double.random(in: 0.8...1.2, using: &random))
            var isStart = true
            while left > 0 {
                let size = min(left, 1_100)
                left -= size
                packets.append(packet(index, size, isKey: isKey, isStart: isStart, isEnd: left <= 0))
                isStart = false
            }
        }
        return packets
    }

    private mutating func packet(_ index: Int, _ size: Int, isKey: Bool, isStart: Bool, isEnd: Bool) -> [UInt8] {
        layers[index].sequence &+= 1
        layers[index].packetCount += 1
        let layer = layers[index]
        // The frame's tag, the start code and the picture's size, then which encoding it is, for who looks at it.
        var data: [UInt8] = [0, 0, 0x9D, 0x01, 0x2A, 0, 1, UInt8(layer.height & 0xFF), UInt8(layer.height >> 8)]
        data += [UInt8](repeating: UInt8(index), count: max(size - 20, 1))
        let names = layers.count > 1 && layer.packetCount < 30
        return client.frame(
            layer.sequence, timestamp: UInt32(frame) * 3_000, ssrc: layer.ssrc, picture: frame & 0x7FFF,
            isKey: isKey && isStart,
            elements: names ? [(client.midID, Array("0".utf8)), (client.ridID, Array(layer.rid.utf8))] : [],
            data: data, isStart: isStart, isEnd: isEnd)
    }
}

/// The way to a viewer, with a bottleneck, and the client at its end: it says what arrived and asks for what did not.
struct Viewer {
    struct Sight {
        let at: UInt64
        let layer: UInt8
        let byteCount: Int
        let sequence: UInt16
    }

    let leg: LegID
    let client: Client
    /// Nil for a way without a limit.
    var bitsPerSecond: Double?
    var delay: UInt64 = 20_000_000
    var queueNanoseconds: UInt64 = 300_000_000
    private(set) var sights: [Sight] = []
    private(set) var padding = 0
    private(set) var lost = 0
    private var freeAt: UInt64 = 0
    private var onTheWay: [(at: UInt64, packet: Packet)] = []
    private var answers: [(at: UInt64, bytes: [UInt8])] = []
    private var log = ArrivalLog()
    private var nack = NACKGenerator()
    private var nextFeedback: UInt64 = 0
    private var slot: UInt32?

    init(_ leg: LegID, _ client: Client) {
        self.leg = leg
        self.client = client
    }

    mutating func accept(_ packets: [Packet], at now: UInt64) {
        for packet in packets {
            var leaves = now
            if let bitsPerSecond {
                let begin = max(freeAt, now)
                guard begin - now <= queueNanoseconds else {
                    lost += 1
                    continue
                }
                freeAt = begin + UInt64(Double(packet.bytes.count + 40) * 8e9 / bitsPerSecond)
                leaves = freeAt
            }
            onTheWay.append((leaves + delay, packet))
        }
    }

    /// What arrived until now, and the reports that it gives rise to, when they have come back.
    mutating func receive(at now: UInt64) -> [[UInt8]] {
        for (at, packet) in onTheWay where at <= now { arrive(packet, at: at) }
        onTheWay.removeAll { $0.at <= now }
        if now >= nextFeedback {
            nextFeedback = now + 50_000_000
            answer(at: now)
        }
        let back = answers.filter { $0.at <= now }.map(\.bytes)
        answers.removeAll { $0.at <= now }
        return back
    }

    private mutating func arrive(_ packet: Packet, at time: UInt64) {
        let now = Instant(nanoseconds: time)
        if let sequence = packet.element(client.transportID) { log.record(sequence, at: now) }
        guard packet.header.payloadType == client.vp8 else {
            padding += packet.bytes.count
            if packet.payload.count > 2 {
                _ = nack.receive(UInt16(packet.payload[0]) << 8 | UInt16(packet.payload[1]), at: now)
            }
            return
        }
        slot = packet.header.ssrc
        _ = nack.receive(packet.header.sequence, at: now)
        sights.append(
            Sight(
                at: time, layer: packet.payload.last ?? 255, byteCount: packet.bytes.count,
                sequence: packet.header.sequence))
    }

    private mutating func answer(at now: UInt64) {
        var writer = RTCPWriter()
        while client.hasTransportFeedback, log.hasNews {
            writer.begin()
            guard log.write(into: &writer, from: 1, of: slot ?? 2) else { break }
            answers.append((now + delay, writer.bytes))
        }
        var wanted: [UInt16] = []
        nack.collect(at: Instant(nanoseconds: now), into: &wanted)
        guard !wanted.isEmpty, let slot else { return }
        writer.begin()
        writer.appendNACK(wanted, of: slot, from: 1)
        answers.append((now + delay, writer.bytes))
    }

    /// Which encodings were seen in a stretch of time.
    func layers(from start: UInt64, until end: UInt64 = .max) -> Set<UInt8> {
        Set(sights.filter { $0.at >= start && $0.at < end }.map(\.layer))
    }

    /// The longest time in which nothing arrived.
    func longestGap(from start: UInt64, until end: UInt64 = .max) -> UInt64 {
        let times = sights.map(\.at).filter { $0 >= start && $0 < end }
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    }
}

/// A camera and its viewers, each behind a way of its own.
struct SimulatedCall: ~Copyable {
    var conference: Conference
    var camera: Camera
    var viewers: [Viewer]
    let publisher: LegID

    init(
        _ layers: [(rid: String, bitsPerSecond: Int, height: Int)] = [
            ("q", 150_000, 180), ("h", 500_000, 360), ("f", 1_500_000, 720),
        ], viewers clients: [Client], seed: UInt64
    ) throws {
        var conference = Conference()
        let camera = Camera(layers, from: conference.now, seed: seed)
        var viewers: [Viewer] = []
        for (index, client) in clients.enumerated() {
            viewers.append(Viewer(try conference.join("viewer \(index)", client), client))
        }
        let publisher = try conference.join("camera", camera.client)
        self.publisher = publisher
        self.viewers = viewers
        self.camera = camera
        self.conference = conference
    }

    var now: UInt64 { conference.now.nanoseconds }

    mutating func run(milliseconds: Int) {
        for _ in 0..<milliseconds / 5 {
            for packet in camera.shoot(at: now) { conference.send(packet, from: publisher) }
            conference.advance(milliseconds: 5)
            for report in conference.outbox.takeReports(publisher) { camera.hear(report, at: now) }
            for index in viewers.indices {
                viewers[index].accept(conference.outbox.take(viewers[index].leg), at: now)
                for report in viewers[index].receive(at: now) { conference.report(report, from: viewers[index].leg) }
            }
        }
    }
}

extension Packet {
    /// A header extension of two bytes.
    func element(_ id: UInt8) -> UInt16? {
        guard let packet = try? RTPPacket(bytes.span.bytes) else { return nil }
        return packet.element(id)?.integer(at: 0, as: UInt16.self)
    }
}
