import Foundation
import NIOPosix
import Testing

@testable import SwitchboardClient

/// When a client makes a leg, and what its slots show.
struct LegTests {
    private func call(
        epoch: Int?, at endpoint: EndpointID? = "mine", status: Call.Status = .active
    ) -> Call {
        let media = Participant.Media(audio: true, video: false, screen: false, held: false)
        return Call(
            id: "c1", kind: .audio, mode: epoch == nil ? "direct" : "gateway", gatewayEpoch: epoch, status: status,
            version: 1, caller: "ann", createdAt: Date(timeIntervalSince1970: 0),
            participants: [
                Participant(
                    user: "ann", displayName: "Ann", endpoint: endpoint, state: endpoint == nil ? .ringing : .joined,
                    connected: false, media: media)
            ])
    }

    private let slots = [Slot(mid: "1", kind: .audio)]

    @Test func aLegIsWantedOnceTheCallGoesThroughTheGateway() {
        var tracker = LegTracker()
        tracker.apply(call(epoch: nil), at: "mine")
        #expect(tracker.state.need == nil)
        tracker.apply(call(epoch: 3, at: nil), at: "mine")
        #expect(tracker.state.need == nil, "It was not accepted yet.")
        tracker.apply(call(epoch: 3, at: "other"), at: "mine")
        #expect(tracker.state.need == nil, "It was accepted elsewhere.")
        tracker.apply(call(epoch: 3), at: "mine")
        #expect(tracker.state.need == .first)
        tracker.apply([(1, .slots(slots))])
        tracker.answerReceived(epoch: 3)
        #expect(tracker.state == LegState(need: nil, slots: slots))
        tracker.apply(call(epoch: 3), at: "mine")
        #expect(tracker.state.need == nil)
    }

    @Test func aGatewayThatBeganAnewIsJoinedAgain() {
        var tracker = LegTracker()
        tracker.apply(call(epoch: 3), at: "mine")
        tracker.apply([(1, .slots(slots))])
        tracker.answerReceived(epoch: 3)
        tracker.apply(call(epoch: 4), at: "mine")
        #expect(tracker.state == LegState(need: .gatewayRestarted, slots: []))
        tracker.apply(call(epoch: 4), at: "mine")
        #expect(tracker.state.need == .gatewayRestarted)
        tracker.answerReceived(epoch: 4)
        #expect(tracker.state.need == nil)
        tracker.apply(call(epoch: 4, status: .ended), at: "mine")
        #expect(tracker.state.need == nil)
    }

    @Test func aFailedLegIsMadeAnew() {
        var tracker = LegTracker()
        tracker.apply(call(epoch: 3), at: "mine")
        tracker.apply([(1, .slots(slots))])
        tracker.answerReceived(epoch: 3)
        tracker.apply([(2, .ended(reason: "connection_lost"))])
        #expect(tracker.state == LegState(need: .ended(reason: "connection_lost"), slots: []))
        tracker.apply([(3, .slots(slots))])
        tracker.answerReceived(epoch: 3)
        #expect(tracker.state == LegState(need: nil, slots: slots))
        // The mailbox comes as a whole once more.
        tracker.apply([(1, .slots([])), (2, .ended(reason: "connection_lost")), (3, .slots(slots))])
        #expect(tracker.state == LegState(need: nil, slots: slots))
    }

    /// The mailbox is in order, whenever the answer arrives.
    @Test func anEndBehindTheAnswersSlotsIsThatLegs() {
        var tracker = LegTracker()
        tracker.apply(call(epoch: 3), at: "mine")
        tracker.apply([(1, .slots(slots)), (2, .ended(reason: "handshake_failed"))])
        #expect(tracker.state.need == .first)
        tracker.answerReceived(epoch: 3)
        #expect(tracker.state.need == .ended(reason: "handshake_failed"))
    }

    @Test func whoPublishesWhatSomebodyCannotPlayOffersAgain() {
        var tracker = LegTracker()
        tracker.apply(call(epoch: 3), at: "mine")
        tracker.offerSent()
        tracker.apply([(1, .slots(slots)), (2, .renegotiate)])
        #expect(tracker.state.need == .first, "There is no leg yet.")
        tracker.answerReceived(epoch: 3)
        #expect(tracker.state == LegState(need: .otherCodec, slots: slots), "It came after the answer was made.")
        tracker.offerSent()
        tracker.answerReceived(epoch: 3)
        #expect(tracker.state.need == nil)
        tracker.apply([(3, .renegotiate)])
        #expect(tracker.state.need == .otherCodec)
        tracker.apply(call(epoch: 4), at: "mine")
        #expect(tracker.state.need == .gatewayRestarted)
        tracker.offerSent()
        tracker.answerReceived(epoch: 4)
        tracker.apply([(4, .renegotiate), (5, .ended(reason: "closed"))])
        #expect(tracker.state.need == .ended(reason: "closed"))
    }

    @Test func takesNoOtherNoticeForAnEnd() throws {
        let ended = try JSONDecoder().decode(LegNotice.self, from: Data(#"{"kind":"legEnded","reason":"closed"}"#.utf8))
        #expect(ended == .ended(reason: "closed"))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LegNotice.self, from: Data(#"{"kind":"muted"}"#.utf8))
        }
    }

    @Test func understandsTheMailbox() throws {
        let text = """
            {"stream":"signals:c1:mine","epoch":"e1","seq":3,"snapshot":{"signals":[
            {"seq":1,"type":"slots","data":{"kind":"slots","slots":[{"mid":"2","kind":"video","track":
            {"user":"ben","endpoint":"his","mid":"0","source":"screen"}},{"mid":"3","kind":"audio"}]}},
            {"seq":2,"type":"legEnded","data":{"kind":"legEnded","reason":"closed"}},
            {"seq":3,"type":"renegotiate","data":{"kind":"renegotiate"}}]}}
            """
        guard case .snapshot(let stream, let document, let position) = try ServerFrame(Array(text.utf8)) else {
            Issue.record("It is a snapshot.")
            return
        }
        var book = CallBook()
        let events = book.apply(.snapshot(document, position), of: stream, for: "ann")
        let track = Slot.Track(user: "ben", endpoint: "his", mid: "0", source: .screen)
        #expect(
            events == [
                .leg(
                    "c1",
                    [
                        StreamChange(
                            sequence: 1,
                            content: .leg(
                                .slots([
                                    Slot(mid: "2", kind: .video, track: track), Slot(mid: "3", kind: .audio),
                                ]))),
                        StreamChange(sequence: 2, content: .leg(.ended(reason: "closed"))),
                        StreamChange(sequence: 3, content: .leg(.renegotiate)),
                    ])
            ])
    }

    @Test func notifiesItsReaders() async throws {
        let address = try ServerAddress("http://127.0.0.1:1")
        let group = MultiThreadedEventLoopGroup.singleton
        let rest = RESTClient(address, options: SwitchboardOptions(), group: group)
        Task { await rest.close() }
        let endpoint = RealtimeEndpoint(
            address, options: SwitchboardOptions(), group: group, credentials: Credentials(rest: rest), rest: rest)
        let mine = endpoint.identity.id
        let live = LiveCall(call(epoch: nil, at: mine), endpoint: endpoint)
        #expect(live.legState.need == nil)
        live.update(call(epoch: 1, at: mine))
        var states = live.legStates.makeAsyncIterator()
        #expect(await states.next()?.need == .first)
        live.receive([StreamChange(sequence: 1, content: .leg(.slots(slots)))])
        #expect(await states.next() == LegState(need: .first, slots: slots))
        live.answerReceived(epoch: 1)
        #expect(await states.next() == LegState(need: nil, slots: slots))
        live.end(call(epoch: 1, at: mine, status: .ended))
        #expect(await states.next() == LegState(need: nil, slots: []))
        #expect(await states.next() == nil)
    }
}
