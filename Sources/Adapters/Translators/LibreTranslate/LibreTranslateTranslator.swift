internal import Foundation
package import Languages
package import ProviderCodecs
internal import Providers
internal import Synchronization

/// LibreTranslate, or a service with the same `POST /translate`.
///
/// Texts are sent as they are, with `[X1]` for what is kept, so that a sentence stays one; those that come back damaged are
/// sent once more as HTML, where LibreTranslate leaves out elements with `translate="no"`.
///
/// It knows its pairs from `GET /languages`, which is read before the first translation and again after an hour. Until
/// then every pair counts as translated.
package struct LibreTranslateTranslator: TriedTranslationEngine {
    private static let lifetime = Duration.seconds(3_600)

    private struct Languages {
        var targets: [String: Set<String>]
        var readAt: ContinuousClock.Instant
    }

    private final class State: Sendable {
        let languages = Mutex<Languages?>(nil)
    }

    package let name = "libretranslate"
    package let kind = TranslationKind.model
    package let isHosted: Bool
    private let base: String
    private let key: String?
    private let pairs: LanguagePairs
    private let endpoint: JSONEndpoint
    private let state = State()

    /// - Parameter url: of the service (`https://libretranslate.com`).
    package init(url: String, key: String?, pairs: LanguagePairs = .all, isHosted: Bool = true) {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.base = base.hasSuffix("/translate") ? String(base.dropLast("/translate".count)) : base
        self.key = key
        self.pairs = pairs
        self.isHosted = isHosted
        endpoint = JSONEndpoint(url: self.base + "/translate", headers: [], key: key)
    }

    package func translates(from source: LanguageTag, into target: LanguageTag) -> Bool {
        guard pairs.contains(source, target) else { return false }
        guard let targets = state.languages.withLock({ $0?.targets }) else { return true }
        return Self.codes(source, target, targets) != nil
    }

    /// The service's codes for the languages: the tag itself, or another way to read or write it.
    private static func codes(
        _ source: LanguageTag, _ target: LanguageTag, _ targets: [String: Set<String>]
    ) -> (source: String, target: String)? {
        for from in codes(source, among: Set(targets.keys)) {
            if let into = codes(target, among: targets[from] ?? []).first(where: { $0 != from }) { return (from, into) }
        }
        return nil
    }

    private static func codes(_ tag: LanguageTag, among codes: Set<String>) -> [String] {
        let fitting = codes.filter { code in
            LanguageTag(wellFormed: code).map { tag.isReadable(knowing: $0) } ?? false
        }
        // The best first: the same tag, then the one without a region.
        return fitting.sorted { one, other in
            let isSame = (one.lowercased() == tag.string.lowercased(), other.lowercased() == tag.string.lowercased())
            return isSame.0 != isSame.1 ? isSame.0 : (one.count, one) < (other.count, other)
        }
    }

    package func report(deadline: ContinuousClock.Instant) async -> EngineReport {
        do throws(TranslationFailure) {
            let targets = try await targets(deadline)
            // What an operator lists, else the first that it has.
            let source = targets[pairs.example.source] == nil ? targets.keys.min() : pairs.example.source
            let (from, all) = (source ?? "", source.flatMap { targets[$0] } ?? [])
            let into = all.contains(pairs.example.target) ? pairs.example.target : all.filter { $0 != from }.min()
            return await report(
                from: from, into: into ?? "", details: ["\(targets.count) languages"], deadline: deadline)
        } catch {
            return EngineReport(name: name, isHosted: isHosted, problem: error.clause)
        }
    }

    package func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        let targets = try await targets(deadline)
        guard pairs.contains(request.source, request.target),
            let codes = Self.codes(request.source, request.target, targets)
        else { throw .pairNotSupported }
        return try await request.splitWhenTooLong { request async throws(TranslationFailure) in
            try await translate(request.textsWithTerms, codes, deadline)
        }
    }

    private func translate(
        _ texts: [MaskedText], _ codes: (source: String, target: String), _ deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        var results = try await translate(texts, .text, codes, deadline)
        let damaged = results.indices.filter { results[$0] == .failed(.damaged) }
        guard !damaged.isEmpty else { return results }
        let repeated = try await translate(damaged.map { texts[$0] }, .html, codes, deadline)
        for (index, result) in zip(damaged, repeated) { results[index] = result }
        return results
    }

    private func translate(
        _ texts: [MaskedText], _ format: LibreTranslateCodec.Format, _ codes: (source: String, target: String),
        _ deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        let written = texts.map { $0.written(as: format.style) }
        let response = try await endpoint.post(
            LibreTranslateCodec.request(written, format, from: codes.source, into: codes.target, key: key),
            deadline: deadline)
        guard response.status == 200 else { throw endpoint.failure(response) }
        let translations = try LibreTranslateCodec.translations(response.body, count: texts.count)
        return zip(written, translations).map { $0.result($1) }
    }

    private func targets(
        _ deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [String: Set<String>] {
        let known = state.languages.withLock { $0 }
        if let known, known.readAt + Self.lifetime > .now { return known.targets }
        do throws(TranslationFailure) {
            let response = try await endpoint.get(base + "/languages", deadline: deadline)
            guard response.status == 200 else { throw endpoint.failure(response) }
            let targets = try LibreTranslateCodec.languages(response.body)
            state.languages.withLock { $0 = Languages(targets: targets, readAt: .now) }
            return targets
        } catch {
            // Old pairs are better than none.
            guard let known, error != .cancelled else { throw error }
            return known.targets
        }
    }
}
