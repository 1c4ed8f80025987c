import Testing
import Translators

@testable import Server

@Suite struct EngineProbeTests {
    private let probe = EngineProbe.translation(
        RunningServer(state: .running(Set(ServerRole.allCases)), send: { _ in nil }))
    private let working = EngineReport(name: "apertium", isHosted: false, details: ["rus-ukr", "ukr-rus"])

    @Test func enginesThatWorkSayWhatTheyAre() {
        #expect(probe.evaluate([]).status == .notConfigured)
        let hosted = EngineReport(name: "gpt", isHosted: true, details: ["the model gpt, one of 7"])
        #expect(
            probe.evaluate([hosted, working])
                == .passed("gpt (hosted), the model gpt, one of 7; apertium, rus-ukr, ukr-rus"))
    }

    @Test func oneThatFailsFails() {
        let failing = EngineReport(name: "gpt", isHosted: true, problem: "it refuses: status 401")
        guard case .failed(let problem) = probe.evaluate([failing, working]) else {
            Issue.record("An engine that refuses passes.")
            return
        }
        #expect(problem.detail == "gpt: it refuses: status 401")
        #expect(problem.remedy?.contains("languages.translation") == true)
    }
}
