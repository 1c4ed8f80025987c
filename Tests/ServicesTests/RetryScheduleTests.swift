import Model
import Providers
import Testing
import Webhooks

@testable import Services

@Suite struct RetryScheduleTests {
    let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func claim(attempt: Int = 0, expiresIn seconds: Int64? = nil) -> ClaimedDelivery {
        ClaimedDelivery(
            delivery: DeliveryRecord(
                id: 1, webhook: .make(at: now), event: 1, attempt: attempt, notBefore: now, createdAt: now),
            event: EventRecord(
                id: .make(at: now), type: .callRinging, at: now, expiresAt: seconds.map { now.adding(seconds: $0) },
                data: "{}"))
    }

    private func settlement(
        _ response: WebhookResponse, attempt: Int = 0, expiresIn seconds: Int64? = nil
    ) -> Settlement.Result {
        RetrySchedule.settlement(
            of: claim(attempt: attempt, expiresIn: seconds), after: .response(response), random: 0.5, at: now)
    }

    @Test func delaysGrowToAlmostADayAndVaryByAFifth() {
        for (index, delay) in RetrySchedule.delays.enumerated() {
            for (random, factor) in [(0.0, 0.8), (0.5, 1), (1, 1.2), (7, 1.2), (-7, 0.8)] {
                let next = RetrySchedule.next(after: index + 1, retryAfter: nil, random: random, at: now)
                #expect(next?.milliseconds(since: now) == Int64(Double(delay * 1_000) * factor))
            }
        }
        let last = RetrySchedule.delays.count
        #expect(last == 11)
        for attempts in [last + 1, last + 2, .max, 0, -1] {
            #expect(RetrySchedule.next(after: attempts, retryAfter: nil, random: 0.5, at: now) == nil)
        }
    }

    @Test func retryAfterOnlyMakesTheDelayLonger() {
        for (seconds, delay) in [(0, 5), (3, 5), (60, 60), (-5, 5), (1 << 40, 86_400)] as [(Int64, Int64)] {
            let next = RetrySchedule.next(after: 1, retryAfter: .seconds(seconds), random: 0.5, at: now)
            #expect(next?.milliseconds(since: now) == delay * 1_000)
        }
    }

    @Test func whatBecomesOfADeliveryDependsOnTheResponse() {
        for status in [200, 201, 204, 299] {
            #expect(settlement(WebhookResponse(status: status)) == .delivered(status: status))
        }
        let next = now.adding(seconds: 5)
        for status in [100, 300, 307, 400, 401, 404, 429, 500, 503] {
            guard case .retry(next, status, let reason) = settlement(WebhookResponse(status: status, reason: "why"))
            else {
                Issue.record("\(status)")
                continue
            }
            #expect(reason.contains("\(status)") && reason.contains("why"))
            #expect(reason.contains("redirect") == (300..<400).contains(status))
        }
        #expect(
            settlement(WebhookResponse(status: 410)) == .disabled(reason: "Its address responded 410 (gone)."))
        guard case .givenUp(500, _) = settlement(WebhookResponse(status: 500), attempt: 11) else {
            Issue.record("It is attempted for ever.")
            return
        }
        #expect(
            RetrySchedule.settlement(of: claim(), after: .noResponse(.timedOut), random: 0.5, at: now)
                == .retry(at: next, status: nil, reason: "It did not respond in time."))
        #expect(RetrySchedule.settlement(of: claim(), after: .cancelled, random: 0.5, at: now) == .released)
    }

    @Test func aRingIsNotAttemptedAfterItsDeadline() {
        let failed = WebhookResponse(status: 503, retryAfter: nil)
        #expect(
            settlement(failed, expiresIn: 6)
                == .retry(at: now.adding(seconds: 5), status: 503, reason: "It responded 503."))
        #expect(settlement(failed, expiresIn: 5) == .givenUp(status: 503, reason: "It responded 503."))
        #expect(
            settlement(WebhookResponse(status: 503, retryAfter: .seconds(60)), expiresIn: 30)
                == .givenUp(status: 503, reason: "It responded 503."))
    }
}
