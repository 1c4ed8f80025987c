import Model
import Testing

@testable import Storage

/// What the media gateway keeps in the store.
@Suite struct GatewayTests {
    @Test func everyLifeOfTheGatewayHasItsOwnEpoch() async throws {
        let scratch = try await ScratchStore()
        for expected in 1...3 {
            #expect(try await scratch.store.write { try $0.beginGatewayEpoch() }.value == Int64(expected))
        }
    }

    /// Who resumes from before what was trimmed starts over; who is near the end goes on.
    @Test func aTrimmedMailboxIsResumedOrStartedOver() async throws {
        let scratch = try await ScratchStore()
        let call = CallID.make(at: Timestamp(milliseconds: 1)),
            endpoint = EndpointID.make(at: Timestamp(milliseconds: 2))
        let stream = StreamName.signals(call, endpoint)
        let reached = try await scratch.store.write { transaction in
            var position = Position(epoch: "", sequence: 0)
            for number in 1...20 {
                position = try transaction.append("slots", ["n": number], to: stream)
                try transaction.trimMailbox(of: endpoint, in: call, longerThan: 16, before: position.sequence)
            }
            return position
        }.value
        #expect(reached.sequence == 20)
        let from = { (sequence: Int64) in
            try await scratch.store.read {
                try $0.changes(of: stream, after: Position(epoch: reached.epoch, sequence: sequence), limit: 100)
            }
        }
        #expect(try await from(3) == .reset(.gap))
        guard case .changes(let changes, _, true) = try await from(16) else {
            Issue.record("The newest are not there.")
            return
        }
        #expect(changes.map(\.position.sequence) == [17, 18, 19, 20])
        #expect(
            try await scratch.store.read { try $0.mailboxJSON(of: endpoint, in: call) }
                .contains("{\"seq\":17,\"type\":\"slots\""))
    }
}
