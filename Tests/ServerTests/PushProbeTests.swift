import Notifications
import Services
import Testing

@testable import Server

@Suite struct PushProbeTests {
    private let probe = PushProbe(
        server: RunningServer(state: .running(Set(ServerRole.allCases)), send: { _ in nil }))

    private func health(_ checks: [PushServiceCheck], isEnabled: Bool = true, registrations: Int = 1) -> PushHealth {
        var health = PushHealth(isEnabled: isEnabled, hasContact: true, registrations: registrations)
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
        (health.waiting, health.oldestSeconds) = (3, 61)
        for reason in [nil, "fcm: Its response was 503."] {
            health.reason = reason
            guard case .failed(let problem) = probe.evaluate(health) else {
                Issue.record("It passes.")
                return
            }
            #expect(problem.detail == "3 pushes wait, the oldest for 61 seconds" + CheckProblem.clause(reason))
        }
        health.oldestSeconds = 60
        #expect(probe.evaluate(health) == .passed("browsers, 1 device"))
    }
}
