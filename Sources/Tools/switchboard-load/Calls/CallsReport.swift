import Foundation
import Histogram

/// The results of a run, as a table for people and as JSON.
struct CallsReport: RunReport {
    var counters: CallsCounters
    var seconds: Double
    var users: Int
    var rate: Double?
    var server: ProcessTimes?
    var generator: ProcessTimes

    var errors: Int { counters.errors.values.reduce(0, +) }

    private var pace: Double { Double(counters.lifeCycles) / seconds }

    private func perLifeCycle(_ seconds: Double) -> Double {
        counters.lifeCycles > 0 ? seconds * 1_000 / Double(counters.lifeCycles) : 0
    }

    var table: String {
        var lines = [
            "\(counters.lifeCycles) life cycles in \(decimal(seconds, 1)) s by \(users) users: \(decimal(pace, 1))/s"
                + (rate.map { " (asked for \(decimal($0, 1))/s)" } ?? ""), "",
            row("ms", pointNames),
        ]
        for step in CallsStep.allCases {
            let times = counters.times[step.rawValue]
            let values = times.totalCount == 0 ? [] : [50, 90, 99, 99.9, 100].map { milliseconds(times, $0) }
            lines.append(row(step.name, values.isEmpty ? ["-"] : values.map { decimal($0, 2) }))
        }
        if let server {
            lines += [
                "",
                "server CPU for each life cycle: \(decimal(perLifeCycle(server.all.total), 3)) ms"
                    + " (user \(decimal(perLifeCycle(server.all.user), 3)), system \(decimal(perLifeCycle(server.all.system), 3)))",
            ]
            for (name, times) in server.threads.sorted(by: { $0.value.total > $1.value.total }) where times.total > 0 {
                lines.append("  \(name): \(decimal(perLifeCycle(times.total), 3)) ms")
            }
        }
        lines.append("generator CPU for each life cycle: \(decimal(perLifeCycle(generator.all.total), 3)) ms")
        lines += ["", errors == 0 ? "no errors" : "\(errors) errors:"]
        for (what, count) in counters.errors.sorted(by: { $0.value > $1.value }) { lines.append("  \(count) \(what)") }
        return lines.joined(separator: "\n")
    }

    var json: Data {
        get throws {
            struct Step: Encodable { var count: UInt64; var p50, p90, p99, p999, max, mean: Double }
            struct Stats: Encodable {
                var users: Int
                var seconds: Double
                var rate: Double?
                var lifeCycles: Int
                var lifeCyclesPerSecond: Double
                var serverMillisecondsPerLifeCycle: Double?
                var serverUserMillisecondsPerLifeCycle: Double?
                var serverMillisecondsPerLifeCycleByThread: [String: Double]?
                var generatorMillisecondsPerLifeCycle: Double
                var milliseconds: [String: Step]
                var errors: [String: Int]
            }
            let steps = CallsStep.allCases.map { step -> (String, Step) in
                let times = counters.times[step.rawValue]
                return (
                    step.name,
                    Step(
                        count: times.totalCount, p50: milliseconds(times, 50), p90: milliseconds(times, 90),
                        p99: milliseconds(times, 99), p999: milliseconds(times, 99.9), max: milliseconds(times, 100),
                        mean: times.totalCount == 0 ? 0 : times.mean / 1_000)
                )
            }
            let stats = Stats(
                users: users, seconds: seconds, rate: rate, lifeCycles: counters.lifeCycles, lifeCyclesPerSecond: pace,
                serverMillisecondsPerLifeCycle: server.map { perLifeCycle($0.all.total) },
                serverUserMillisecondsPerLifeCycle: server.map { perLifeCycle($0.all.user) },
                serverMillisecondsPerLifeCycleByThread: server?.threads.mapValues { perLifeCycle($0.total) },
                generatorMillisecondsPerLifeCycle: perLifeCycle(generator.all.total),
                milliseconds: Dictionary(uniqueKeysWithValues: steps), errors: counters.errors)
            return try written(stats)
        }
    }

    private func milliseconds(_ times: Histogram<UInt64>, _ percentile: Double) -> Double {
        times.totalCount == 0 ? 0 : Double(times.valueAtPercentile(percentile)) / 1_000
    }
}
