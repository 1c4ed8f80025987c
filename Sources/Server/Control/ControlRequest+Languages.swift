import Languages
import Messaging
import Model
import Services
import Storage

// Requests of `switchboard languages`.
extension ControlResponse {
    /// - Parameters:
    ///   - hitRate: since the server was started; nil if none runs, or nobody has asked for anything.
    ///   - engines: what does what on a running server, and whether it is hosted.
    init(
        languagesOf store: Store, hitRate: Double?, engines: [(feature: String, name: String, isHosted: Bool)] = []
    ) async throws {
        let (statistics, vectors) = try await store.read {
            (try $0.languageStatistics(), try $0.vectorStatistics())
        }
        var lines = statistics.messages.map { "message\t\($0.language ?? "unknown")\t\($0.count)" }
        lines += statistics.pairs.map { pair in
            let status = pair.reason.map { "\(pair.status): \($0)" } ?? pair.status
            return "translation\t\(pair.source ?? "unknown")\t\(pair.target)\t\(status)\t\(pair.count)"
        }
        lines.append("waiting\t\(statistics.queue.count)\t\(statistics.queue.oldestSeconds) seconds")
        if let hitRate { lines.append("found\t\((hitRate * 1000).rounded() / 10) % of what was asked for") }
        lines += vectors.models.map { model in
            "vectors\t\(model.name)\t\(model.vectors)\t\(model.bytes) bytes\t\(model.waiting) messages wait"
        }
        if !vectors.models.isEmpty {
            lines.append("vectors to be made anew\t\(vectors.again)")
            lines.append("conversations to be compared with their vectors\t\(vectors.checks)")
        }
        lines += engines.map { "engine\t\($0.feature)\t\($0.name)\t\($0.isHosted ? "hosted" : "own")" }
        lines += statistics.calls.map { calls in
            let tokens = "\(calls.tokens.input)\t\(calls.tokens.cached)\t\(calls.tokens.output)"
            let dollars = Self.dollars(calls.microDollars)
            return "calls\t\(calls.purpose)\t\(calls.engine)\t\(calls.outcome ?? "unsettled")\t\(calls.count)"
                + "\t\(calls.given.characters)\t\(tokens)\t\(dollars)\t\(calls.estimated)"
                + "\t\((calls.given.milliseconds + 500) / 1_000)"
        }
        self.init(lines: lines)
    }

    static let withoutEmbedder = ControlResponse(
        error: "Messages have no vectors here: set languages.embeddings.provider, and restart the server.")

    /// - Parameter isServing: whether a server runs.
    init(vectorRepairOf store: Store, isServing: Bool) async throws {
        let count = try await store.write { try $0.checkAllVectors() }.value
        let end = isServing ? ", from now on." : " when the server runs."
        self.init(lines: ["\(count) conversations are compared with their vectors\(end)"])
    }

    init(vectorReindexOf store: Store, isServing: Bool) async throws {
        _ = try await store.write { try $0.restartEmbedding() }
        let end = isServing ? "" : " when the server runs"
        self.init(lines: ["All messages get new vectors\(end); until then the old ones are used."])
    }

    /// `0.001234`
    private static func dollars(_ microDollars: Int64) -> String {
        let digits = String(microDollars % 1_000_000)
        return "\(microDollars / 1_000_000)." + String(repeating: "0", count: 6 - digits.count) + digits
    }
}

extension Store {
    private static let erasedAtOnce = 1_000

    /// Removes all translations and phrases, or those into one language, in steps between which others write.
    ///
    /// - Parameter tag: as the command line has it.
    func eraseTranslations(into tag: String?) async throws -> Int {
        let language = try tag.map { tag in
            guard let language = LanguageTag(wellFormed: tag)?.asTarget else {
                throw Problem.invalid("into", "--into is the tag of a language, such as en or pt-BR.")
            }
            return language
        }
        var total = 0
        while true {
            let count = try await write { try $0.eraseTranslations(into: language, limit: Self.erasedAtOnce) }.value
            total += count
            if count < Self.erasedAtOnce { break }
        }
        while try await write({ try $0.removePhrases(into: language, limit: Self.erasedAtOnce) }).value
            == Self.erasedAtOnce
        {}
        return total
    }
}
