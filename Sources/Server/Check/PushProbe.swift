import Foundation
import Services

/// Asks the running server whether devices that sleep are told. Nothing is sent: a push has to be for somebody's device.
struct PushProbe: Sendable {
    /// A push that waits for longer is a failure of the push service, not of a moment.
    private static let limit = 60.0

    let server: RunningServer

    func run() async -> CheckOutcome {
        do throws(CheckProblem) {
            let text = try await server.ask(.push)
            guard let health = try? JSONDecoder().decode(PushHealth.self, from: Data(text.utf8)) else {
                throw CheckProblem("the server's pushes cannot be read", remedy: "Look at its log.")
            }
            return evaluate(health)
        } catch {
            return .failed(error)
        }
    }

    func evaluate(_ health: PushHealth) -> CheckOutcome {
        guard health.isEnabled else { return .notConfigured("push.web.enabled is false") }
        if health.waiting > 0, health.oldestSeconds > Self.limit, let reason = health.reason {
            return .failed(
                CheckProblem(
                    "\(health.waiting) pushes wait, the oldest for \(Int(health.oldestSeconds)) seconds: \(reason)",
                    remedy: "Let this machine reach the push services of browsers, by HTTPS."))
        }
        guard health.registrations > 0 else { return .passed("browsers, of which none has registered yet") }
        let devices = health.registrations == 1 ? "1 device" : "\(health.registrations) devices"
        let contact =
            "Set push.web.contact to mailto:you@example.org or an https:// URL: some push services refuse pushes without one."
        return .passed("browsers, \(devices)", warnings: health.hasContact ? [] : [contact])
    }
}
