import DTLS
import Testing
import Wire

@Suite("The records that reach a session")
struct RecordFilterTests {
    private func admits(
        _ datagram: [UInt8], _ phase: RecordFilter.Phase, filter: RecordFilter = RecordFilter()
    ) -> Bool {
        guard let record = RecordHeader(datagram.span.bytes, at: 0) else { return false }
        return filter.admits(record, of: datagram.span.bytes, in: phase)
    }

    private static let phases: [RecordFilter.Phase] = [.keyAwaited, .finishedAwaited, .established]

    /// In which of the three phases a record is admitted.
    private func phases(_ datagram: [UInt8], filter: RecordFilter = RecordFilter()) -> [Bool] {
        Self.phases.map { admits(datagram, $0, filter: filter) }
    }

    private func key(_ count: Int = 33, messageSequence: UInt16 = 2, type: UInt8 = 16) -> [UInt8] {
        Hello.fragment(of: [UInt8](repeating: 1, count: count), messageSequence: messageSequence, type: type)
    }

    @Test("a client's last flight is let in, each part in its time")
    func lastFlight() {
        #expect(phases(key()) == [true, false, false])
        #expect(phases(Hello.record([1], type: 20)) == [true, false, false])
        #expect(phases(Hello.record([UInt8](repeating: 0, count: 48), epoch: 1)) == [false, true, true])
        #expect(phases(Hello.record([UInt8](repeating: 0, count: 24), type: 23, epoch: 1)) == [false, false, true])
        #expect(phases(Hello.record([UInt8](repeating: 0, count: 26), type: 21, epoch: 1)) == [false, true, true])
    }

    @Test("what anybody could forge is kept out")
    func forged() {
        let never = [false, false, false]
        // A plain alert, plain data, a hello, a key that comes too early, late or large, two in one.
        #expect(phases(Hello.record([2, 40], type: 21)) == never)
        #expect(phases(Hello.record([1], type: 23)) == never)
        #expect(phases(Hello.captured) == never)
        #expect(phases(key(messageSequence: 1)) == never)
        #expect(phases(key(messageSequence: 3)) == never)
        #expect(phases(key(5000)) == never)
        #expect(phases(Hello.record([])) == never)
        #expect(phases(Hello.record([2], type: 20)) == never)
        #expect(phases(Hello.record([1, 1], type: 20)) == never)
        // Later epochs, renegotiation, and what is too short for a nonce and a tag.
        let sealed = [UInt8](repeating: 0, count: 24)
        #expect(phases(Hello.record(sealed, type: 23, epoch: 2)) == never)
        #expect(phases(Hello.record(sealed, type: 20, epoch: 1)) == never)
        for count in 0..<24 {
            let short = [UInt8](repeating: 0, count: count)
            for type in 20...23 as ClosedRange<UInt8> {
                #expect(phases(Hello.record(short, type: type, epoch: 1)) == never)
            }
        }
        for count in [24, 47, 49, 200] {
            #expect(phases(Hello.record([UInt8](repeating: 0, count: count), epoch: 1)) == [false, true, false])
        }
        // A key, and something else behind it in the same record.
        let body = Array(key().dropFirst(13))
        #expect(phases(Hello.record(body + body)) == [true, false, false])
        #expect(phases(Hello.record(body + [16, 0, 0])) == never)
        #expect(phases(Hello.record(body + Array(key(type: 14).dropFirst(13)))) == never)
    }

    @Test("a client's certificate is let in only where it was asked for")
    func certificates() {
        let asking = RecordFilter(asksForCertificate: true)
        #expect(phases(key(2000, type: 11)) == [false, false, false])
        #expect(phases(key(2000, type: 11), filter: asking) == [true, false, false])
        #expect(phases(key(messageSequence: 3), filter: asking) == [true, false, false])
        #expect(phases(key(messageSequence: 4, type: 15), filter: asking) == [true, false, false])
        #expect(phases(key(messageSequence: 5, type: 15), filter: asking) == [false, false, false])
    }

    @Test("of a server its flights are let in, each message in its place and of its length")
    func server() {
        func admitted(_ type: UInt8, _ count: Int = 33) -> [UInt16] {
            (0...8).filter {
                phases(key(count, messageSequence: $0, type: type), filter: .ofServer) == [true, false, false]
            }
        }
        #expect(admitted(3) == [0] && admitted(3, 258) == [0] && admitted(3, 259) == [])
        #expect(admitted(2) == [0, 1] && admitted(2, 2_049) == [])
        #expect(admitted(11) == [1, 2] && admitted(11, 8_192) == [1, 2] && admitted(11, 8_193) == [])
        #expect(admitted(12) == [2, 3] && admitted(13) == [3, 4])
        #expect(admitted(14, 0) == [3, 4, 5] && admitted(14, 1) == [])
        for type: UInt8 in [0, 1, 4, 15, 16, 20, 22] { #expect(admitted(type).isEmpty) }
        let never = [false, false, false]
        #expect(phases(Hello.record([2, 40], type: 21), filter: .ofServer) == never, "an alert without keys")
        #expect(phases(Hello.record([1], type: 20), filter: .ofServer) == [true, false, false])
        #expect(
            phases(Hello.record([UInt8](repeating: 0, count: 48), epoch: 1), filter: .ofServer) == [false, true, true])
        for count in 0..<24 {
            let short = [UInt8](repeating: 0, count: count)
            for type in 20...23 as ClosedRange<UInt8> {
                #expect(phases(Hello.record(short, type: type, epoch: 1), filter: .ofServer) == never)
            }
        }
    }

    @Test("the first byte distinguishes DTLS from STUN and ChannelData")
    func firstBytes() {
        let all: [UInt8] = (0...255).filter { RecordHeader.mayBegin(with: $0) }
        #expect(all == Array(20...63))
    }
}
