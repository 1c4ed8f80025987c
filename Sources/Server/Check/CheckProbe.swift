/// What a check is about: the `subject` in JSON.
///
/// A further part of the server is a case here and a probe in `ServerCheck`.
enum CheckSubject: String, Hashable, Sendable, CaseIterable {
    case configuration
    /// The process that owns the data directory.
    case server
    case http
    /// The certificate of the API's port, or of the proxy before it.
    case certificate
    case realtime
    case gateway
    case relay
    /// relay.externalAddress, compared with what a STUN server elsewhere sees.
    case externalAddress
    /// Server keys that expire.
    case keys
    /// Webhooks that fail or are disabled.
    case webhooks
    case push
    /// What translates messages.
    case translation
    /// What turns messages into vectors.
    case meaning
    /// What explains messages, and helps to write them.
    case explanation
    /// What writes down what is said.
    case transcription
    case storage
}

/// One check: what it is called, what it needs, and how to try it.
struct CheckProbe: Sendable {
    let subject: CheckSubject
    /// Begins the line of the result.
    let name: String
    /// If a check of these failed or was skipped, this one is skipped.
    let needs: [CheckSubject]
    let run: @Sendable () async -> CheckOutcome

    init(
        _ subject: CheckSubject, _ name: String, needs: [CheckSubject] = [],
        run: @escaping @Sendable () async -> CheckOutcome
    ) {
        self.subject = subject
        self.name = name
        self.needs = needs
        self.run = run
    }

    /// A check whose outcome is known without trying.
    init(_ subject: CheckSubject, _ name: String, _ outcome: CheckOutcome) {
        self.init(subject, name) { outcome }
    }
}

extension CheckReport {
    /// Tries the probes one after another, and passes each result to `print` as soon as it is known.
    ///
    /// - Parameter nanoseconds: a monotonic clock, for the durations.
    static func run(
        _ probes: [CheckProbe], clock nanoseconds: () -> UInt64, each print: (Entry) -> Void = { _ in }
    ) async -> CheckReport {
        var report = CheckReport()
        var missing: [CheckSubject: String] = [:]
        for probe in probes {
            let begin = nanoseconds()
            let outcome: CheckOutcome
            if let needed = probe.needs.first(where: { missing[$0] != nil }), let name = missing[needed] {
                outcome = .skipped("\(name) does not work")
            } else {
                outcome = await probe.run()
            }
            switch outcome {
            case .failed, .skipped: missing[probe.subject] = missing[probe.subject] ?? probe.name
            case .passed, .notConfigured: break
            }
            let entry = Entry(
                subject: probe.subject, name: probe.name, outcome: outcome,
                milliseconds: Double(nanoseconds() &- begin) / 1_000_000)
            report.entries.append(entry)
            print(entry)
        }
        return report
    }
}
