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
        give(call("first"), &calls)
        for number in 0..<500 { apply(call(CallID("c\(number)")), &calls) }
        #expect((0..<500).count { calls.contains(CallID("c\($0)")) } == AnsweredCalls.limit - 1)
        // Somebody has it.
        #expect(calls.contains("first") && calls.contains("c499") && !calls.contains("c0"))
        for number in 500..<1_000 { give(call(CallID("c\(number)")), &calls) }
        #expect((0..<1_000).count { calls.contains(CallID("c\($0)")) } == AnsweredCalls.limit)
    }

    private func end(_ calls: inout AnsweredCalls, given document: Call? = nil) -> Bool {
        calls.end("c1", given: document, to: "ben", at: "mine")
    }

    private func acceptedForNobody(_ calls: inout AnsweredCalls) -> Bool { calls.acceptedForNobody("c1") }

    @Test func leavesWhatNobodyHas() {
        var calls = AnsweredCalls()
        #expect(acceptedForNobody(&calls))
        calls.begin("c1")
        #expect(calls.isAnswering("c1"))
        #expect(end(&calls) == false)
        #expect(!calls.isAnswering("c1"))
        // It is known to be in the call, and nobody was given it.
        apply(call(), &calls)
        #expect(acceptedForNobody(&calls))
    }

    @Test func keepsWhatSomebodyElseWasGiven() {
        var calls = AnsweredCalls()
        calls.begin("c1")
        calls.begin("c1")
        #expect(end(&calls, given: call()) == false)
        // The task of the other was cancelled after the success.
        #expect(acceptedForNobody(&calls) == false)
        #expect(end(&calls) == false)
        // A snapshot that was overtaken.
        apply(call("c1", .ringing, version: 1), &calls)
        #expect(acceptedForNobody(&calls) == false)
        // Left, and joined again for somebody who has given up.
        apply(call("c1", .left, version: 3), &calls)
        apply(call("c1", version: 4), &calls)
        #expect(acceptedForNobody(&calls))
        give(call(version: 5), &calls)
        #expect(acceptedForNobody(&calls) == false)
    }

    @Test func waitsForThoseWhoAreAnswering() {
        for (given, leaves) in [(call(), false), (nil, true)] {
            var calls = AnsweredCalls()
            calls.begin("c1")
            calls.begin("c1")
            calls.begin("c1")
            #expect(end(&calls) == false)
            #expect(acceptedForNobody(&calls) == false)
            #expect(end(&calls) == false)
            #expect(end(&calls, given: given) == leaves)
            // Once.
            #expect(end(&calls) == false)
        }
    }

    /// Whatever comes in whatever order: what somebody was given stays, and what nobody was given is left in the end.
    @Test(arguments: 0..<200) func leavesNothingBehind(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var calls = AnsweredCalls()
        var (attempts, isJoined, isGiven) = (0, false, false)
        for _ in 0..<60 {
            var leaves = false
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                calls.begin("c1")
                attempts += 1
            case 1 where attempts > 0:
                attempts -= 1
                let document = Bool.random(using: &random) ? call() : nil
                isGiven = isGiven || document != nil
                isJoined = isJoined || document != nil
                leaves = end(&calls, given: document)
            case 2:
                isJoined = true
                leaves = acceptedForNobody(&calls)
            default: apply(isJoined ? call() : call("c1", .ringing, version: 1), &calls)
            }
            if leaves {
                #expect(!isGiven)
                isJoined = false
            }
        }
        while attempts > 0 {
            attempts -= 1
            if end(&calls) { isJoined = false }
        }
        #expect(isJoined == isGiven)
    }
}
