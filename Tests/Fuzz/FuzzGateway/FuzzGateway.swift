import FuzzInput
import Gateway
import RTP
import SDP
import Wire

/// Runs the gateway's engine through what the input says: participants come and go, packets and reports of theirs
/// arrive, well-formed or not, and time passes. Checked on the way: nothing goes to a leg that is not there or back to
/// who sent it, what goes out is RTP of one of the leg's own slots and never reuses a number, and one packet in is at
/// most one packet out for each other leg. In the end nothing is left.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGateway(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var harness = GatewayHarness()
    var input = FuzzInput(UnsafeRawBufferPointer(start: start, count: count))
    var steps = 0
    while !input.isEmpty, steps < 400 {
        harness.step(&input)
        steps += 1
    }
    harness.finish()
    return 0
}

struct GatewayHarness: ~Copyable {
    private var engine = GatewayEngine(random: SeededRandom(seed: 1))
    private var outbox = CheckedOutbox()
    private var now = Instant(nanoseconds: 1_000_000_000)
    private var legs: [LegID] = []
    private var joined = 0
    /// What each leg has, and whether its slots are inactive for now.
    private var shaped: [LegID: (shape: NegotiatedLeg, isInactive: Bool)] = [:]
    private let shapes = Shape.all

    mutating func step(_ input: inout FuzzInput) {
        let kind = input.byte()
        let leg = legs.isEmpty ? nil : legs[Int(input.byte()) % legs.count]
        outbox.begin(from: leg)
        switch kind % 8 {
        case 0: join(Int(input.byte()))
        case 1: leave(leg)
        case 2, 3: receive(media(&input), from: leg)
        case 4: receive(input.take(Int(input.byte())), from: leg)
        case 5: report(input.take(Int(input.byte())), from: leg)
        case 6: report(feedback(&input, to: leg), from: leg)
        default:
            let time = input.byte()
            if time & 7 == 2 { turnSlots(of: leg) }
            // Somebody listens, or does no more.
            if time & 3 == 3 { engine.tap("call", isOn: time & 4 == 0, into: &outbox) }
            pass(milliseconds: UInt64(time))
        }
        if kind % 8 < 5, outbox.sent > max(0, legs.count - 1) { fatalError("more came out than went in") }
    }

    mutating func finish() {
        for leg in legs { leave(leg) }
        guard engine.legCount == 0, engine.trackCount == 0, engine.callCount == 0 else {
            fatalError("something is left")
        }
    }

    private mutating func join(_ choice: Int) {
        guard legs.count < 6 else { return }
        let shape = shapes[choice % shapes.count]
        joined += 1
        let id = engine.join("call", as: "participant \(joined)", shape, at: now, into: &outbox)
        legs.append(id)
        shaped[id] = (shape, false)
        outbox.admit(id, shape)
    }

    /// Its slots become inactive, or come back.
    private mutating func turnSlots(of leg: LegID?) {
        guard let leg, let now = shaped[leg] else { return }
        shaped[leg] = (now.shape, !now.isInactive)
        let next = now.isInactive ? now.shape : Shape.withInactiveSlots(now.shape)
        engine.renegotiate(leg, next, at: self.now, into: &outbox)
    }

    private mutating func leave(_ leg: LegID?) {
        guard let leg else { return }
        legs.removeAll { $0 == leg }
        shaped[leg] = nil
        outbox.dismiss(leg)
        engine.leave(leg, at: now, into: &outbox)
    }

    private mutating func pass(milliseconds: UInt64) {
        outbox.begin(from: nil)
        now = now.adding(nanoseconds: milliseconds * 1_000_000)
        engine.advance(to: now, into: &outbox)
        engine.releaseWaiting(at: now, into: &outbox)
        guard engine.nextRelease > now else { fatalError("what may leave stays") }
    }

    private mutating func receive(_ packet: [UInt8], from leg: LegID?) {
        guard let leg else { return }
        var bytes = packet
        var span = bytes.mutableSpan
        var target = span.mutableBytes
        engine.receiveRTP(&target, from: leg, at: now, into: &outbox)
    }

    private mutating func report(_ datagram: [UInt8], from leg: LegID?) {
        guard let leg else { return }
        engine.receiveRTCP(datagram.span.bytes, from: leg, at: now, into: &outbox)
    }

    /// A packet as a client of these shapes could send it.
    private func media(_ input: inout FuzzInput) -> [UInt8] {
        let types: [UInt8] = [111, 96, 97, 98]
        let sources: [UInt32] = [11, 22, 23, 33, 71, 72, 73]
        var packet: [UInt8] = [0x90, types[Int(input.byte() & 3)]]
        packet += UInt16(input.byte()).bigEndianBytes + UInt32(input.byte()).bigEndianBytes
        packet += sources[Int(input.byte()) % sources.count].bigEndianBytes
        let names: [UInt8] = [0x10, 0x30 + input.byte() % 4, 0x20, 0x71 + input.byte() % 2, 0x31, 0, input.byte(), 0]
        packet += [0xBE, 0xDE, 0, 2] + names
        return packet + [0x90, 0x80, 0x80, input.byte(), input.byte()] + input.take(Int(input.byte() & 31))
    }

    /// RTCP of a receiver about one of its slots.
    private mutating func feedback(_ input: inout FuzzInput, to leg: LegID?) -> [UInt8] {
        let ssrc = leg.flatMap { outbox.slot(of: $0, Int(input.byte())) } ?? 11
        let sequence = (outbox.lastSequence ?? 0) &- UInt16(input.byte() & 15)
        switch input.byte() & 7 {
        case 0: return [0x81, 206, 0, 2] + UInt32(1).bigEndianBytes + ssrc.bigEndianBytes
        case 1: return [0x80, 203 as UInt8, 0, 0] + [0x81, 203, 0, 1] + ssrc.bigEndianBytes
        case 2:
            // One delta of a byte for each of so many packets that arrived (transport-wide feedback).
            let deltas = input.take(Int(input.byte() & 63)) + [1]
            let padding = [UInt8](repeating: 0, count: (6 - deltas.count % 4) % 4)
            let words = UInt16((18 + deltas.count + padding.count) / 4)
            return [0x8F, 205 as UInt8] + words.bigEndianBytes + UInt32(1).bigEndianBytes + ssrc.bigEndianBytes
                + UInt16(input.byte()).bigEndianBytes + UInt16(deltas.count).bigEndianBytes + [0, 0, input.byte(), 1]
                + (0x2000 | UInt16(deltas.count)).bigEndianBytes + deltas + padding
        case 3:
            // REMB: a mantissa with an exponent.
            return [0x8F, 206 as UInt8, 0, 5] + UInt32(1).bigEndianBytes + UInt32(0).bigEndianBytes + Array("REMB".utf8)
                + [1, input.byte(), input.byte(), input.byte()] + ssrc.bigEndianBytes
        case 4:
            let quality = PreferredQuality.allCases[Int(input.byte() & 3)]
            if let leg { engine.setPreferences(["\(input.byte() & 3)": quality], on: leg) }
            return []
        default:
            return [0x81, 205, 0, 3] + UInt32(1).bigEndianBytes + ssrc.bigEndianBytes + sequence.bigEndianBytes
                + UInt16(input.byte()).bigEndianBytes
        }
    }
}

extension FixedWidthInteger {
    var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
