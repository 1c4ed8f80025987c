import Foundation
import NIOPosix
import Testing

@testable import SwitchboardClient

struct LiveCallTests {
    private func call(_ status: Call.Status = .active) -> Call {
        Call(
            id: "c1", kind: .audio, mode: "direct", status: status, version: status == .ended ? 9 : 1, caller: "ann",
            createdAt: Date(timeIntervalSince1970: 0), participants: [])
    }

    private func handle() throws -> LiveCall {
        let address = try ServerAddress("http://127.0.0.1:1")
        let group = MultiThreadedEventLoopGroup.singleton
        // The client must be closed with the test; it sends no requests.
        let rest = RESTClient(address, options: SwitchboardOptions(), group: group)
        Task { await rest.close() }
        let endpoint = RealtimeEndpoint(
            address, options: SwitchboardOptions(), group: group, credentials: Credentials(rest: rest), rest: rest)
        return LiveCall(call(), endpoint: endpoint)
    }

    private func signal(_ number: Int) -> Signal {
        Signal(from: .init(user: "ben", endpoint: "e2"), content: .offer(sdp: "\(number)"), generation: number)
    }

    @Test func lateReadersGetEverySignalFromTheFirstOn() async throws {
        let live = try handle()
        live.receive([signal(1)], isWhole: true)
        live.receive([signal(2)], isWhole: false)
        let stream = live.signals
        live.receive([signal(3)], isWhole: false)
        live.end(call(.ended))
        var seen: [Int] = []
        for try await signal in stream { seen.append(signal.generation) }
        #expect(seen == [1, 2, 3])
    }

    @Test func doesNotDeliverAMailboxTwice() async throws {
        let live = try handle()
        live.receive([signal(1), signal(2)], isWhole: true)
        live.receive([signal(1), signal(2), signal(3)], isWhole: true)
        // Equal signals are delivered as often as they are sent.
        live.receive([signal(3)], isWhole: false)
        live.end(call(.ended))
        var seen: [Int] = []
        for try await signal in live.signals { seen.append(signal.generation) }
        #expect(seen == [1, 2, 3, 3])
    }

    @Test func givesUpOnAReaderWhoDoesNotRead() async throws {
        let live = try handle()
        let stream = live.signals
        for number in 0...1_024 { live.receive([signal(number)], isWhole: false) }
        var count = 0
        await #expect(throws: SwitchboardError.overflow) { for try await _ in stream { count += 1 } }
        #expect(count == 1_024)
    }

    @Test func endsItsUpdatesWithTheDocumentOfTheEnd() async throws {
        let live = try handle()
        let early = live.updates
        live.update(call())
        live.end(call(.ended))
        var last: Call?
        for await document in early { last = document }
        #expect(last?.status == .ended)
        for await document in live.updates { last = document }
        #expect(last?.status == .ended)
    }

    @Test func saysWhyItsSignalsEnded() async throws {
        let live = try handle()
        live.abandon(.streamClosed)
        await #expect(throws: SwitchboardError.streamClosed) { for try await _ in live.signals {} }
    }
}
