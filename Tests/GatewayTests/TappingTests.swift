import Gateway
import RTP
import Testing
import Wire

/// What goes to who records or transcribes a call.
@Suite struct TappingTests {
    private func source(_ number: UInt32, _ participant: String, mid: String = "0") -> TappedSource {
        TappedSource(
            number: number, call: "call", track: TrackName(participant: participant, mid: mid, source: .microphone))
    }

    /// The numbers of the sources that began, by their participants.
    private func begun(_ tapped: [Tapped]) -> [String: UInt32] {
        let pairs = tapped.compactMap { each -> (String, UInt32)? in
            guard case .began(let source) = each else { return nil }
            return (source.track.participant, source.number)
        }
        return Dictionary(pairs) { $1 }
    }

    /// Whether two channels may come from the sources that began, by their participants.
    private func stereo(_ tapped: [Tapped]) -> [String: Bool] {
        let pairs = tapped.compactMap { each -> (String, Bool)? in
            guard case .began(let source) = each else { return nil }
            return (source.track.participant, source.isStereo)
        }
        return Dictionary(pairs) { $1 }
    }

    @Test func onlyTheAudioOfATappedCallIsCopied() throws {
        var harness = GatewayHarness()
        let ann = Client(audio: 11, video: [12]), cleo = Client(audio: 33)
        let first = try harness.join("ann", ann)
        let elsewhere = try harness.join("cleo", cleo, call: "another")
        harness.send(ann.speech(1, timestamp: 960), from: first)
        #expect(harness.outbox.takeTapped().isEmpty)

        harness.engine.tap("call", isOn: true, into: &harness.outbox)
        harness.send(ann.speech(2, timestamp: 1920), from: first)
        harness.send(ann.packet(ann.vp8, 1, 3000, 12, payload: [0x10, 1, 2, 3]), from: first)
        harness.send(cleo.speech(9, timestamp: 960), from: elsewhere)
        let tapped = harness.outbox.takeTapped()
        let number = try #require(begun(tapped)["ann"])
        let packet = TappedPacket(source: number, sequence: 2, timestamp: 1920, arrival: harness.now)
        #expect(tapped == [.began(source(number, "ann")), .packet(packet, [0x78, 2, 2, 3])])

        // What comes again is not copied again.
        harness.send(ann.speech(2, timestamp: 1920), from: first)
        #expect(harness.outbox.takeTapped().isEmpty)
        harness.engine.tap("call", isOn: false, into: &harness.outbox)
        #expect(harness.outbox.takeTapped() == [.ended(number)])
        harness.send(ann.speech(3, timestamp: 2880), from: first)
        #expect(harness.outbox.takeTapped().isEmpty)
    }

    @Test func aCallIsTappedBeforeAnybodyIsThereAndAfterEverybodyHasGone() throws {
        var harness = GatewayHarness()
        harness.engine.tap("call", isOn: true, into: &harness.outbox)
        let ann = Client(audio: 11)
        var numbers: [UInt32] = []
        for _ in 0..<2 {
            let leg = try harness.join("ann", ann)
            harness.send(ann.speech(1, timestamp: 960), from: leg)
            let number = try #require(begun(harness.outbox.takeTapped())["ann"])
            harness.leave(leg)
            #expect(harness.outbox.takeTapped() == [.ended(number)])
            numbers.append(number)
        }
        #expect(numbers[0] != numbers[1])
    }

    @Test func whatWasNegotiatedSaysThatTwoChannelsMayCome() throws {
        var harness = GatewayHarness()
        harness.engine.tap("call", isOn: true, into: &harness.outbox)
        var ann = Client(audio: 11)
        let ben = Client(audio: 22, isStereo: true)
        let first = try harness.join("ann", ann)
        let second = try harness.join("ben", ben)
        harness.send(ann.speech(1, timestamp: 960), from: first)
        harness.send(ben.speech(1, timestamp: 960), from: second)
        #expect(stereo(harness.outbox.takeTapped()) == ["ann": false, "ben": true])
        // A later offer of the same track counts for what is tapped from then on.
        ann.isStereo = true
        try harness.renegotiate(first, ann)
        harness.engine.tap("call", isOn: false, into: &harness.outbox)
        harness.engine.tap("call", isOn: true, into: &harness.outbox)
        harness.send(ann.speech(2, timestamp: 1920), from: first)
        #expect(stereo(harness.outbox.takeTapped()) == ["ann": true])
    }

    @Test func aTrackThatIsNotOfferedAnyMoreEnds() throws {
        var harness = GatewayHarness()
        harness.engine.tap("call", isOn: true, into: &harness.outbox)
        var ann = Client(audio: 11)
        let leg = try harness.join("ann", ann)
        harness.send(ann.speech(1, timestamp: 960), from: leg)
        let number = try #require(begun(harness.outbox.takeTapped())["ann"])
        ann.audio = nil
        try harness.renegotiate(leg, ann)
        #expect(harness.outbox.takeTapped() == [.ended(number)])
    }

    @Test func redundancyBringsWhatWasLost() throws {
        var harness = GatewayHarness()
        harness.engine.tap("call", isOn: true, into: &harness.outbox)
        let ann = Client(audio: 11, opus: 111, red: 63)
        let leg = try harness.join("ann", ann)
        for (number, timestamp) in [(4, 6720), (5, 7680), (7, 9600)] as [(UInt16, UInt32)] {
            let payload: [UInt8] = [0x80 | 111, 15, 0, 2, 111, 0x78, UInt8(number) - 1, 0x78, UInt8(number), 3]
            harness.send(ann.packet(63, number, timestamp, 11, payload: payload), from: leg)
        }
        let packets = harness.outbox.takeTapped().compactMap { each -> [Int]? in
            guard case .packet(let packet, let payload) = each else { return nil }
            return [Int(packet.sequence), Int(packet.timestamp)] + payload.map { Int($0) }
        }
        #expect(
            packets == [[4, 6720, 0x78, 4, 3], [5, 7680, 0x78, 5, 3], [6, 8640, 0x78, 6], [7, 9600, 0x78, 7, 3]])
    }
}
