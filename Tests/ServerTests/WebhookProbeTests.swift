import Services
import Testing

@testable import Server

@Suite struct WebhookProbeTests {
    private let probe = WebhookProbe(
        server: RunningServer(state: .running(Set(ServerRole.allCases)), send: { _ in nil }))
    private let working = WebhookHealth(id: "w1", name: "hooks.example")

    @Test func webhooksThatWorkAreCounted() {
        #expect(probe.evaluate([]).status == .notConfigured)
        #expect(probe.evaluate([working]) == .passed("1 webhook"))
        #expect(probe.evaluate([working, working]) == .passed("2 webhooks"))
    }

    @Test func aDisabledOneIsAWarningAndAFailingOneFails() {
        let disabled = WebhookHealth(
            id: "w2", name: "push", isDisabled: true, reason: "Its address responded 410 (gone).")
        let failing = WebhookHealth(id: "w3", name: "billing", reason: "It responded 500: no.", waiting: 7)
        guard case .passed(_, let warnings) = probe.evaluate([working, disabled]) else {
            Issue.record("A disabled webhook is no failure.")
            return
        }
        #expect(
            warnings == [
                "The webhook push (w2) is disabled (its address responded 410 (gone)): `switchboard webhook enable` it, "
                    + "or remove it."
            ])
        guard case .failed(let problem) = probe.evaluate([working, disabled, failing]) else {
            Issue.record("A failing webhook passes.")
            return
        }
        #expect(problem.detail == "the last deliveries to billing (w3) failed (it responded 500: no), 7 wait")
        #expect(problem.remedy?.contains("webhook test") == true)
        #expect(problem.remedy?.contains("push (w2) is disabled") == true)
    }
}
