import Calls
import Model
import Testing

/// Ten thousand random schedules of people who do anything at any time, on a manual clock.
///
/// A seed reproduces its schedule, and a failure prints it: `Schedule(seed:).run()` repeats it exactly.
@Suite struct RandomScheduleTests {
    @Test(arguments: 0..<20)
    func tenThousandSchedulesKeepTheInvariants(_ part: Int) throws {
        for seed in (part * 500)..<((part + 1) * 500) {
            if let failure = try Schedule(seed: UInt64(seed)).run(steps: 20) {
                Issue.record("seed \(seed): \(failure)")
                return
            }
        }
    }

    @Test func theDatabaseKeepsThemToo() async throws {
        for seed in UInt64(100_000)..<100_010 {
            try await Backing.database.run(seed: seed) { harness in
                if let failure = try Schedule(harness, seed: seed).run(steps: 60) {
                    Issue.record("seed \(seed): \(failure)")
                }
            }
        }
    }
}
