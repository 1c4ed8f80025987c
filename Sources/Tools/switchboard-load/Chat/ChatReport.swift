import Foundation
import Histogram

/// The results of a run of chat, as a table for people and as JSON.
struct ChatReport: RunReport {
    var counters: ChatCounters
    var seconds: Double
    var users: Int
    var plan: ChatPlan
    var load: ChatLoad
    var server: ProcessTimes?
    var generator: ProcessTimes
    var check: ChatChecker

    /// As many are shown.
    private static let examples = 20
    private static let points: [Double] = [50, 95, 99, 100]

    var errors: Int { counters.errors.values.reduce(0, +) }
    var hasFailed: Bool { errors > 0 || !check.violations.isEmpty }

    private var writes: Int {
        [ChatStep.result, .edited, .deleted].reduce(0) { $0 + Int(counters[$1].totalCount) }
    }

    private func perSecond(_ step: ChatStep) -> Double { Double(counters[step].totalCount) / seconds }

    private func perWrite(_ seconds: Double) -> Double { writes > 0 ? seconds * 1e6 / Double(writes) : 0 }

    private func milliseconds(_ times: Histogram<UInt64>, _ percentile: Double) -> Double {
        times.totalCount == 0 ? 0 : Double(times.valueAtPercentile(percentile)) / 1_000
    }

    var table: String {
        let listeners = plan.conversations.reduce(0) { $0 + $1.listeners.count }
        var lines = [
            "\(counters[.result].totalCount) messages in \(decimal(seconds, 1)) s by \(users) users in "
                + "\(plan.conversations.count) conversations with \(listeners) listeners: "
                + "\(decimal(perSecond(.result), 1)) sent and \(decimal(perSecond(.received), 1)) received a second"
                + (load.rate.map { " (asked for \(decimal($0, 1)) writes a second)" } ?? ""), "",
            row("ms", ["p50", "p95", "p99", "max"]),
        ]
        for step in ChatStep.allCases where counters[step].totalCount > 0 {
            lines.append(row(step.name, Self.points.map { decimal(milliseconds(counters[step], $0), 2) }))
        }
        lines.append("")
        if let server {
            lines.append(
                "server CPU for each write: \(decimal(perWrite(server.all.total), 0)) µs"
                    + " (user \(decimal(perWrite(server.all.user), 0)), system \(decimal(perWrite(server.all.system), 0)))"
            )
            for (name, times) in server.threads.sorted(by: { $0.value.total > $1.value.total }) where times.total > 0 {
                lines.append("  \(name): \(decimal(perWrite(times.total), 0)) µs")
            }
        }
        lines.append("generator CPU for each write: \(decimal(perWrite(generator.all.total), 0)) µs")
        if !counters.resets.isEmpty { lines.append("resets of streams: \(listed(counters.resets))") }
        lines.append(
            "checked: \(check.messages) acknowledged messages (\(counters.duplicates) repeated), "
                + "\(check.pagedMessages) in pages, \(check.heldMessages) held by listeners, "
                + "\(check.unreadCounts) unread counts")
        if load.translates { lines.append(translated) }
        lines.append(errors == 0 ? "no errors" : "\(errors) errors: \(listed(counters.errors))")
        lines.append(check.violations.isEmpty ? "no violations" : "\(check.violations.count) violations:")
        lines += check.violations.prefix(Self.examples).map { "  \($0)" }
        return lines.joined(separator: "\n")
    }

    private var translated: String {
        let counts = check.translations
        var line =
            "translated: \(counts.seen) of \(counts.expected) for listeners who do not know the language, made "
            + "\(counts.made) times"
        if counts.askedFor > 0 { line += ", \(counts.askedFor) asked for" }
        if counts.misidentified > 0 { line += ", \(counts.misidentified) messages taken for another language" }
        return counts.failures.isEmpty ? line : "\(line); \(listed(counts.failures))"
    }

    private func listed(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }

    var json: Data {
        get throws {
            struct Step: Encodable { var count: UInt64; var p50, p95, p99, max, mean: Double }
            struct Checked: Encodable { var acknowledged, paged, held, unreadCounts: Int }
            struct Translated: Encodable {
                var expected, seen, made, askedFor, misidentified: Int
                var failures: [String: Int]
            }
            struct Stats: Encodable {
                var users: Int
                var conversations: Int
                var seconds: Double
                var rate: Double?
                var sentPerSecond: Double
                var receivedPerSecond: Double
                var serverMicrosecondsPerWrite: Double?
                var serverMicrosecondsPerWriteByThread: [String: Double]?
                var generatorMicrosecondsPerWrite: Double
                var milliseconds: [String: Step]
                var errors: [String: Int]
                var resets: [String: Int]
                var duplicates: Int
                var checked: Checked
                var translated: Translated?
                var violations: Int
                var examples: [String]
            }
            let found = check.translations
            let translated = Translated(
                expected: found.expected, seen: found.seen, made: found.made, askedFor: found.askedFor,
                misidentified: found.misidentified, failures: found.failures)
            let steps = ChatStep.allCases.map { step -> (String, Step) in
                let times = counters[step]
                let values = Self.points.map { milliseconds(times, $0) }
                return (
                    step.name,
                    Step(
                        count: times.totalCount, p50: values[0], p95: values[1], p99: values[2], max: values[3],
                        mean: times.totalCount == 0 ? 0 : times.mean / 1_000)
                )
            }
            return try written(
                Stats(
                    users: users, conversations: plan.conversations.count, seconds: seconds, rate: load.rate,
                    sentPerSecond: perSecond(.result), receivedPerSecond: perSecond(.received),
                    serverMicrosecondsPerWrite: server.map { perWrite($0.all.total) },
                    serverMicrosecondsPerWriteByThread: server?.threads.mapValues { perWrite($0.total) },
                    generatorMicrosecondsPerWrite: perWrite(generator.all.total),
                    milliseconds: Dictionary(uniqueKeysWithValues: steps), errors: counters.errors,
                    resets: counters.resets, duplicates: counters.duplicates,
                    checked: Checked(
                        acknowledged: check.messages, paged: check.pagedMessages, held: check.heldMessages,
                        unreadCounts: check.unreadCounts),
                    translated: load.translates ? translated : nil,
                    violations: check.violations.count,
                    examples: check.violations.prefix(Self.examples).map(\.description)))
        }
    }
}
