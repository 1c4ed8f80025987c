import Model

/// The results of `switchboard check`, as lines for people and as a JSON document.
struct CheckReport: Hashable, Sendable {
    /// The result of one probe.
    struct Entry: Hashable, Sendable {
        let subject: CheckSubject
        let name: String
        let outcome: CheckOutcome
        let milliseconds: Double

        /// Such as "TLS 203.0.113.5:5349: FAILS: nothing listens there. Open the port."
        var line: String {
            switch outcome {
            case .passed(let detail, _): "\(name): works, \(detail)"
            case .failed(let problem): "\(name): FAILS: \(problem.text)"
            case .notConfigured(let reason): "\(name): not configured: \(reason)."
            case .skipped(let reason): "\(name): skipped: \(reason)."
            }
        }
    }

    var entries: [Entry] = []

    /// Whether the exit code is 0: nothing failed. Warnings are not failures.
    var isGood: Bool { count(.failed) == 0 }

    /// The lines after those of the entries: each warning once, and the sum.
    var summary: [String] {
        var warnings: [String] = []
        for entry in entries {
            guard case .passed(_, let found) = entry.outcome else { continue }
            for warning in found where !warnings.contains(warning) { warnings.append(warning) }
        }
        return warnings.map { "Warning: \($0)" } + [total]
    }

    private var total: String {
        let (failed, skipped) = (count(.failed), count(.skipped))
        let tried = entries.count - skipped - count(.notConfigured)
        let rest = skipped == 0 ? "" : skipped == 1 ? " 1 check was skipped." : " \(skipped) checks were skipped."
        if failed > 0 { return "\(failed) of \(tried) checks failed." + rest }
        return (skipped == 0 ? "Everything works." : "Everything that was tried works.") + rest
    }

    private func count(_ status: CheckStatus) -> Int { entries.count { $0.outcome.status == status } }

    /// `{"version":"…","status":"ok|warning|failed","checks":[{"subject":"http","name":"…","status":"ok","detail":"…",
    /// "remedy":"…","warnings":["…"],"milliseconds":1.5}]}`, on one line. `remedy` is there only after a failure,
    /// `warnings` only with the status `warning`.
    func json(version: String) -> String {
        let status: CheckStatus = !isGood ? .failed : count(.warning) > 0 ? .warning : .ok
        var writer = JSONWriter(capacity: 4096)
        writer.object { writer in
            writer.member("version", version)
            writer.member("status", status.rawValue)
            writer.name("checks")
            writer.array(entries) { writer, entry in entry.write(into: &writer) }
        }
        return writer.text
    }
}

extension CheckReport.Entry {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("subject", subject.rawValue)
            writer.member("name", name)
            writer.member("status", outcome.status.rawValue)
            switch outcome {
            case .passed(let detail, let warnings):
                writer.member("detail", detail)
                if !warnings.isEmpty {
                    writer.name("warnings")
                    writer.array(warnings) { writer, warning in writer.write(warning) }
                }
            case .failed(let problem):
                writer.member("detail", problem.detail)
                writer.member("remedy", problem.remedy)
            case .notConfigured(let reason), .skipped(let reason): writer.member("detail", reason)
            }
            writer.member("milliseconds", (milliseconds * 100).rounded() / 100)
        }
    }
}
