import Model
import Testing

@testable import Server

@Suite("The check of server keys")
struct KeyProbeTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)
    private static let day: Int64 = 86_400_000

    private func outcome(_ ends: Int64?...) -> CheckOutcome {
        let server = RunningServer(state: .running([.api])) { _ in nil }
        return KeyProbe(server: server, clock: { Self.now }).evaluate(
            ends.map { KeyExpiry(id: "id", name: "Shop", expiresAt: $0) }, at: Self.now)
    }

    @Test("a key is a warning in its last thirty days, and when it has expired") func warnings() {
        let now = Self.now.milliseconds
        #expect(outcome() == .notConfigured("there are no server keys"))
        #expect(outcome(nil) == .passed("1 key"))
        #expect(outcome(nil, now + 30 * Self.day, .max) == .passed("3 keys"))
        let warned = outcome(now + 30 * Self.day - 1, now + Self.day, now + 1, now, .min)
        guard case .passed("5 keys", let warnings) = warned else {
            Issue.record("\(warned)")
            return
        }
        #expect(
            warnings.map { $0.split(separator: ":")[0] } == [
                "The key Shop (id) expires in 29 days", "The key Shop (id) expires in a day",
                "The key Shop (id) expires in less than a day", "The key Shop (id) has expired",
                "The key Shop (id) has expired",
            ])
    }

    @Test("a server that cannot be asked is a failure") func failures() async {
        let stopped = RunningServer(state: .running([.api])) { _ in nil }
        #expect(await KeyProbe(server: stopped, clock: { Self.now }).run().status == .failed)
        let strange = RunningServer(state: .running([.api])) { _ in ControlResponse(lines: ["keys"]) }
        #expect(await KeyProbe(server: strange, clock: { Self.now }).run().status == .failed)
    }
}
