import Foundation
import Testing

@testable import SwitchboardClient

/// Answering a call by its id, from before there is a connection.
struct CallAnsweringTests {
    private func call(
        _ status: Call.Status = .active, _ state: Participant.State = .joined, at endpoint: EndpointID? = "mine",
        _ reason: EndReason? = nil
    ) -> Call {
        let media = Participant.Media(audio: true, video: false, screen: false, held: false)
        return Call(
            id: "c1", kind: .audio, mode: "direct", status: status, endReason: reason, version: 2, caller: "ann",
            createdAt: Date(timeIntervalSince1970: 0),
            participants: [
                Participant(user: "ann", displayName: "Ann", state: .joined, connected: false, media: media),
                Participant(
                    user: "ben", displayName: "Ben", endpoint: endpoint, state: state, connected: false, media: media),
            ])
    }

    private func refused(_ kind: Problem.Kind, _ call: Call? = nil) -> SwitchboardError {
        .refused(Problem(kind: kind, title: "", status: 409, detail: "", call: call))
    }

    private func accept(
        _ machine: inout CallAnswering, _ result: Result<Call, SwitchboardError>, wasAnsweredHere: Bool = false
    ) -> [CallAnswering.Action] {
        machine.accepted(result, for: "ben", at: "mine", wasAnsweredHere: wasAnsweredHere)
    }

    @Test func waitsForTheConnection() {
        var machine = CallAnswering()
        #expect(machine.connected() == [.accept])
        // The request is sent again by itself when the connection breaks.
        #expect(machine.disconnected() == [] && machine.connected() == [])
        #expect(accept(&machine, .success(call())) == [.complete(.answered(call()))])
        #expect(machine.isOver)
        #expect(machine.abandon(.cancelled) == [] && machine.disconnected() == [] && machine.stopped(.closed) == [])
    }

    @Test func hasNoEffectIfItIsGivenUpBeforeTheConnection() {
        for outcome in [CallAnswering.Outcome.cancelled, .failed(.timedOut)] {
            var machine = CallAnswering()
            #expect(machine.abandon(outcome) == [.complete(outcome)])
            #expect(machine.connected() == [] && machine.isOver)
        }
    }

    @Test func leavesWhatWasAcceptedTooLate() {
        for outcome in [CallAnswering.Outcome.cancelled, .failed(.timedOut)] {
            var machine = CallAnswering()
            _ = machine.connected()
            #expect(machine.abandon(outcome) == [.complete(outcome)])
            #expect(!machine.isOver)
            #expect(accept(&machine, .success(call())) == [.leave])
            #expect(machine.isOver)
        }
        var refusal = CallAnswering()
        _ = refusal.connected()
        _ = refusal.abandon(.cancelled)
        #expect(accept(&refusal, .failure(refused(.answeredElsewhere))) == [])
        #expect(refusal.isOver)
    }

    /// A request that is sent again might be carried out only then, which nobody wants any more.
    @Test func doesNotAcceptAnewForNobody() {
        var machine = CallAnswering()
        _ = machine.connected()
        _ = machine.abandon(.cancelled)
        #expect(machine.disconnected() == [.withdraw, .find])
        #expect(machine.connected() == [])
        // The withdrawn request.
        #expect(accept(&machine, .failure(.unreachable("cancelled"))) == [])
        #expect(machine.found(.success(call()), for: "ben", at: "mine") == [.leave])
        #expect(machine.isOver)

        var broken = CallAnswering()
        _ = broken.connected()
        _ = broken.disconnected()
        #expect(broken.abandon(.failed(.timedOut)) == [.complete(.failed(.timedOut)), .withdraw, .find])
        #expect(broken.found(.success(call(.ringing, .ringing, at: nil)), for: "ben", at: "mine") == [])
        #expect(broken.isOver)

        var overtaken = CallAnswering()
        _ = overtaken.connected()
        _ = overtaken.abandon(.cancelled)
        _ = overtaken.disconnected()
        #expect(accept(&overtaken, .success(call())) == [.leave])
        #expect(overtaken.found(.success(call()), for: "ben", at: "mine") == [] && overtaken.isOver)

        var elsewhere = CallAnswering()
        _ = elsewhere.connected()
        _ = elsewhere.disconnected()
        _ = elsewhere.abandon(.cancelled)
        #expect(elsewhere.found(.success(call(at: "tablet")), for: "ben", at: "mine") == [])
    }

    @Test func looksForWhatARequestWithoutAResponseDid() {
        var machine = CallAnswering()
        _ = machine.connected()
        #expect(accept(&machine, .failure(.timedOut)) == [.complete(.failed(.timedOut)), .find])
        #expect(machine.found(.success(call()), for: "ben", at: "mine") == [.leave])
        var abandoned = CallAnswering()
        _ = abandoned.connected()
        _ = abandoned.abandon(.cancelled)
        #expect(accept(&abandoned, .failure(.timedOut)) == [.find])
        #expect(abandoned.found(.failure(.timedOut), for: "ben", at: "mine") == [] && abandoned.isOver)
    }

    @Test func saysWhyItRingsNoMore() {
        let ends: [(SwitchboardError, RingEnd)] = [
            (refused(.answeredElsewhere), .answered), (refused(.notFound), .cancelled),
            (refused(.callEnded), .cancelled),
            (refused(.callEnded, call(.ended, .missed, at: nil, .cancelled)), .cancelled),
            (refused(.callEnded, call(.ended, .missed, at: nil, .missed)), .missed),
            (refused(.callEnded, call(.ended, .declined, at: nil, .declined)), .declined),
            (refused(.callEnded, call(.ended, .left, at: nil, .hungUp)), .answered),
        ]
        for (error, end) in ends {
            var machine = CallAnswering()
            _ = machine.connected()
            #expect(accept(&machine, .failure(error)) == [.complete(.over(end))], "\(error)")
            #expect(machine.isOver)
        }
        var again = CallAnswering()
        _ = again.connected()
        let over = refused(.callEnded, call(.ended, .left, at: nil, .hungUp))
        #expect(accept(&again, .failure(over), wasAnsweredHere: true) == [.complete(.over(.cancelled))])
        for error in [refused(.conflict), .signedOut, .overflow] {
            var machine = CallAnswering()
            _ = machine.connected()
            #expect(accept(&machine, .failure(error)) == [.complete(.failed(error))])
        }
    }

    @Test func readsWhetherItRings() {
        func state(_ call: Call, here: Bool = false) -> RingState {
            RingState(call, for: "ben", at: "mine", wasAnsweredHere: here)
        }
        #expect(state(call(.ringing, .invited, at: nil)) == .rings && state(call(.active, .ringing, at: nil)) == .rings)
        #expect(state(call(.ended, .ringing, at: nil)) == .over(.cancelled))
        #expect(state(call()) == .joined && state(call(at: "tablet")) == .over(.answered))
        // The change of the call may come before that of the participant.
        #expect(state(call(.ended, .joined)) == .left)
        #expect(state(call(.ended, .joined, at: "tablet"), here: true) == .over(.answered))
        for status in [Call.Status.active, .ended] {
            #expect(state(call(status, .left, at: nil)) == .over(.answered))
            #expect(state(call(status, .left, at: nil), here: true) == .left)
        }
        #expect(state(call(.active, .declined, at: nil)) == .over(.declined))
        #expect(state(call(.active, .missed, at: nil)) == .over(.missed))
        for other in [Participant.State.busy, .unreachable, Participant.State(rawValue: "dreaming")] {
            #expect(state(call(.active, other, at: nil)) == .over(.cancelled))
        }
        #expect(RingState(call(), for: "eva", at: "mine", wasAnsweredHere: true) == .over(.cancelled))
    }

    @Test func endsWithTheClient() {
        var waiting = CallAnswering()
        #expect(waiting.stopped(.signedOut) == [.complete(.failed(.signedOut))] && waiting.isOver)
        var accepting = CallAnswering()
        _ = accepting.connected()
        #expect(accepting.stopped(.closed) == [.complete(.failed(.closed))])
        #expect(accept(&accepting, .failure(.closed)) == [])
        var undoing = CallAnswering()
        _ = undoing.connected()
        _ = undoing.abandon(.cancelled)
        #expect(undoing.stopped(.closed) == [] && undoing.isOver)
    }

    /// Whatever comes in whatever order: one outcome at most, one request, and nothing left behind if nobody has the call.
    @Test(arguments: 0..<200) func completesOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var machine = CallAnswering()
        var (outcomes, requests, lookups) = (0, 0, 0)
        var (isInCall, isInFlight, isAnswered, hasLeft) = (false, false, false, false)
        func note(_ actions: [CallAnswering.Action]) {
            for action in actions {
                switch action {
                case .complete(let outcome):
                    outcomes += 1
                    if case .answered = outcome { isAnswered = true }
                case .accept: (requests, isInFlight) = (requests + 1, true)
                case .withdraw: isInFlight = false
                case .find: lookups += 1
                case .leave: hasLeft = true
                }
            }
        }
        for _ in 0..<40 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: note(machine.connected())
            case 1:
                if isInFlight { isInCall = isInCall || Bool.random(using: &random) }
                note(machine.disconnected())
            case 2: note(machine.abandon(.cancelled))
            case 3 where isInFlight:
                isInFlight = false
                isInCall = true
                note(accept(&machine, .success(call())))
            case 4 where lookups > 0:
                lookups -= 1
                let document = isInCall ? call() : call(.ringing, .ringing, at: nil)
                note(machine.found(.success(document), for: "ben", at: "mine"))
            default: break
            }
        }
        #expect(outcomes <= 1 && requests <= 1)
        #expect(!(isAnswered && hasLeft))
        if machine.isOver { #expect(outcomes == 1 && (!isInCall || isAnswered || hasLeft)) }
    }
}

/// How long a task is waited for.
struct TaskTimeoutTests {
    @Test func isNotWaitedForWhenTheTimeIsOver() async {
        // It does not end when it is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let endless = Task<Int, any Error> {
            await withCheckedContinuation { ended in
                continuation.onTermination = { _ in ended.resume() }
            }
            return 1
        }
        await #expect(throws: SwitchboardError.timedOut) { try await endless.value(within: .milliseconds(1)) }
        #expect(endless.isCancelled)
        withExtendedLifetime(stream) { continuation.finish() }
    }

    @Test func hasTheValueOrTheError() async throws {
        #expect(try await Task<Int, any Error> { 3 }.value(within: .seconds(60)) == 3)
        await #expect(throws: SwitchboardError.overflow) {
            try await Task<Int, any Error> { throw SwitchboardError.overflow }.value(within: .seconds(60))
        }
        let cancelled = Task {
            try await Task<Int, any Error> {
                try await Task<Never, Never>.sleep(for: .seconds(600))
                return 1
            }.value(within: .seconds(600))
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}
