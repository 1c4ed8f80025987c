import Foundation
import Synchronization
import Testing

@testable import Server

@Suite("The report of switchboard check")
struct CheckReportTests {
    /// Runs probes with a clock that goes on by two milliseconds with each look.
    private func report(_ probes: [CheckProbe]) async -> CheckReport {
        let time = Mutex<UInt64>(0)
        return await CheckReport.run(probes) {
            time.withLock { now in
                now += 2_000_000
                return now
            }
        }
    }

    private func object(_ report: CheckReport) throws -> [String: Any] {
        let json = Data(report.json(version: "1.2.3").utf8)
        return try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
    }

    private let good = CheckProbe(.http, "HTTP http://h:1", .passed("alive"))
    private let bad = CheckProbe(
        .relay, "UDP h:2", .failed(CheckProblem("nothing listens there", remedy: "Open UDP port 2.")))

    @Test("a line for each outcome") func lines() async {
        let report = await report([
            good, bad, CheckProbe(.relay, "TCP h:2", .failed(CheckProblem("the server refuses with error 400"))),
            CheckProbe(.certificate, "Certificate", .notConfigured("http.certificate is empty")),
            CheckProbe(.gateway, "Gateway", .skipped("it is elsewhere")),
            CheckProbe(.storage, "Disk", .passed("1 MB are free", warnings: ["Only 1 MB."])),
        ])
        #expect(
            report.entries.map(\.line) == [
                "HTTP http://h:1: works, alive",
                "UDP h:2: FAILS: nothing listens there. Open UDP port 2.",
                "TCP h:2: FAILS: the server refuses with error 400.",
                "Certificate: not configured: http.certificate is empty.",
                "Gateway: skipped: it is elsewhere.",
                "Disk: works, 1 MB are free",
            ])
        #expect(report.summary == ["Warning: Only 1 MB.", "2 of 4 checks failed. 1 check was skipped."])
        #expect(!report.isGood)
    }

    @Test("what is off is no failure, and what was skipped is mentioned") func sums() async {
        let off = CheckProbe(.certificate, "Certificate", .notConfigured("off"))
        let skipped = CheckProbe(.gateway, "Gateway", .skipped("elsewhere"))
        let whole = await report([good, off])
        #expect(whole.summary == ["Everything works."] && whole.isGood)
        let part = await report([good, skipped, skipped])
        #expect(part.summary == ["Everything that was tried works. 2 checks were skipped."] && part.isGood)
    }

    @Test("a warning that several checks have is printed once, and is no failure") func warnings() async throws {
        let warned = CheckProbe(.relay, "UDP h:2", .passed("1 ms", warnings: ["Set relay.externalAddress."]))
        let report = await report([warned, warned, good])
        #expect(report.summary == ["Warning: Set relay.externalAddress.", "Everything works."] && report.isGood)
        #expect(try object(report)["status"] as? String == "warning")
    }

    @Test("what needs a check that failed or was skipped is skipped, and not tried") func needs() async {
        let tried = Mutex<[String]>([])
        func probe(_ subject: CheckSubject, _ name: String, needs: [CheckSubject]) -> CheckProbe {
            CheckProbe(subject, name, needs: needs) {
                tried.withLock { $0.append(name) }
                return .passed("fine")
            }
        }
        let report = await report([
            CheckProbe(.http, "HTTP", .failed(CheckProblem("closed"))), probe(.realtime, "WebSocket", needs: [.http]),
            probe(.gateway, "Gateway", needs: [.realtime]), probe(.storage, "Disk", needs: [.configuration]),
        ])
        #expect(
            report.entries.map(\.outcome) == [
                .failed(CheckProblem("closed")), .skipped("HTTP does not work"), .skipped("WebSocket does not work"),
                .passed("fine"),
            ])
        #expect(tried.withLock { $0 } == ["Disk"])
        #expect(report.summary == ["1 of 2 checks failed. 2 checks were skipped."])
    }

    @Test("JSON has the same, with a status for each check") func json() async throws {
        let report = await report([
            good, bad, CheckProbe(.certificate, "Certificate", .notConfigured("\"quoted\"")),
            CheckProbe(.storage, "Disk", .passed("little", warnings: ["Only 1 MB."])),
            CheckProbe(.gateway, "Gateway", .skipped("elsewhere")),
        ])
        let document = try object(report)
        #expect(document["version"] as? String == "1.2.3" && document["status"] as? String == "failed")
        let checks = try #require(document["checks"] as? [[String: Any]])
        #expect(
            checks.map { $0["status"] as? String } == ["ok", "failed", "notConfigured", "warning", "skipped"])
        #expect(
            checks.map { $0["subject"] as? String } == ["http", "relay", "certificate", "storage", "gateway"])
        #expect(checks.map { $0["milliseconds"] as? Double } == [2, 2, 2, 2, 2])
        #expect(checks[1]["detail"] as? String == "nothing listens there")
        #expect(checks[1]["remedy"] as? String == "Open UDP port 2." && checks[0]["remedy"] == nil)
        #expect(checks[2]["detail"] as? String == "\"quoted\"")
        #expect(checks[3]["warnings"] as? [String] == ["Only 1 MB."] && checks[0]["warnings"] == nil)
    }

    @Test("results are reported as they come") func order() async {
        let printed = Mutex<[String]>([])
        let report = await CheckReport.run([good, bad], clock: { 0 }) { entry in
            printed.withLock { $0.append(entry.name) }
        }
        #expect(printed.withLock { $0 } == report.entries.map(\.name))
    }
}
