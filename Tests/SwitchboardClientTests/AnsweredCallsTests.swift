import Foundation
import Testing

@testable import SwitchboardClient

/// Which calls were answered on this endpoint.
struct AnsweredCallsTests {
    private func call(
        _ id: CallID = "c1", _ state: Participant.State = .joined, at endpoint: EndpointID? = nil, version: Int = 2
    ) -> Call {
        let media = Participant.Media(audio: true, video: false, screen: false, held: false)
        // As the server writes it: the endpoint only while it is in the call.
        let endpoint = state == .joined ? endpoint ?? "mine" : nil
        return Call(
            id: id, kind: .audio, mode: "gateway", status: .active, version: version, caller: "ann",
            createdAt: Date(timeIntervalSince1970: 0),
            participants: [
                Participant(
                    user: "ben", displayName: "Ben", endpoint: endpoint, state: state, connected: false, media: media)
            ])
    }

    private func give(_ call: Call, _ calls: inout AnsweredCalls) { calls.give(call, to: "ben", at: "mine") }
    private func apply(_ call: Call, _ calls: inout AnsweredCalls) { calls.apply(call, for: "ben", at: "mine") }

    @Test func remembersWhatWasAnsweredHere() {
        var calls = AnsweredCalls()
        apply(call("c1", .ringing, version: 1), &calls)
        apply(call("c2", .left), &calls)
        #expect(!calls.contains("c1") && !calls.contains("c2"))
        apply(call("c1"), &calls)
        apply(call("c1", .left, version: 3), &calls)
        #expect(calls.contains("c1"))
        // It was over before anybody here knew that it was answered.
        give(call("c3", .left), &calls)
        #expect(calls.contains("c3"))
        calls.apply(call("c4"), for: "eva", at: "mine")
        #expect(!calls.contains("c4"))
    }

    @Test func forgetsWhatRingsAgainOrWasAnsweredElsewhere() {
        for next in [call("c1", .ringing, version: 4), call("c1", .joined, at: "tablet", version: 4)] {
            var calls = AnsweredCalls()
            give(call(), &calls)
            apply(call("c1", .left, version: 3), &calls)
            apply(next, &calls)
            apply(call("c1", .left, version: 5), &calls)
            #expect(!calls.contains("c1"))
        }
        // A snapshot that was overtaken.
        var calls = AnsweredCalls()
        give(call(), &calls)
        apply(call("c1", .ringing, version: 1), &calls)
        #expect(calls.contains("c1"))
    }

    @Test func isBounded() {
        var calls = AnsweredCalls()
        for number in 0..<500 { give(call(CallID("c\(number)")), &calls) }
        #expect((0..<500).count { calls.contains(CallID("c\($0)")) } == AnsweredCalls.limit)
        #expect(calls.contains("c499"))
    }
}
