import Model
import Notifications
import Services
import Testing

@testable import Server

@Suite struct PushProbeTests {
    private let probe = PushProbe(
        server: RunningServer(state: .running(Set(ServerRole.allCases)), send: { _ in nil }))

    private func health(_ checks: [PushServiceCheck], isEnabled: Bool = true, registrations: Int = 1) -> PushHealth {
        var health = PushHealth(webKey: isEnabled ? "key" : nil, hasContact: true)
        health.kinds[0].registrations = registrations
        health.checks = checks
        return health
    }

    @Test func servicesThatWorkAreNamed() {
        #expect(probe.evaluate(health([], isEnabled: false)).status == .notConfigured)
        #expect(probe.evaluate(health([])) == .passed("browsers, 1 device"))
        let both = [PushServiceCheck(kind: .fcm), PushServiceCheck(kind: .apns)]
        #expect(probe.evaluate(health(both, registrations: 7)) == .passed("browsers, Android, iOS, 7 devices"))
        #expect(
            probe.evaluate(health([PushServiceCheck(kind: .fcm)], isEnabled: false)) == .passed("Android, 1 device"))
        #expect(
            probe.evaluate(health(both, registrations: 0))
                == .passed("browsers, Android, iOS, of which none has registered yet"))
    }

    @Test func everyServiceThatFailsIsNamed() {
        let checks = [
            PushServiceCheck(kind: .fcm, problem: "Its response was 403."),
            PushServiceCheck(kind: .apns, problem: "Its response was 403, InvalidProviderToken."),
        ]
        guard case .failed(let problem) = probe.evaluate(health(checks)) else {
            Issue.record("It passes.")
            return
        }
        #expect(
            problem.detail == "Firebase Cloud Messaging would take no pushes (its response was 403); "
                + "Apple's push service would take no pushes (its response was 403, InvalidProviderToken)")
        #expect(problem.remedy?.contains("push.fcm.credentials") == true)
        #expect(problem.remedy?.contains("push.apns.keyID") == true)
    }

    /// Whether a reason is known or not: another service may have worked since.
    @Test func pushesThatWaitAreAFailure() {
        var health = health([])
        (health.kinds[0].waiting, health.kinds[1].waiting) = (1, 2)
        (health.kinds[0].oldestSeconds, health.kinds[1].oldestSeconds) = (2, 61)
        for reason in [nil, "fcm: Its response was 503."] {
            if reason != nil {
                health.kinds[1].failure = PushHealth.Failure(
                    reason: "Its response was 503.", since: Timestamp(milliseconds: 0))
            }
            guard case .failed(let problem) = probe.evaluate(health) else {
                Issue.record("It passes.")
                return
            }
            #expect(problem.detail == "3 pushes wait, the oldest for 61 seconds" + CheckProblem.clause(reason))
        }
        health.kinds[1].oldestSeconds = 60
        #expect(probe.evaluate(health) == .passed("browsers, 1 device"))
    }
}
