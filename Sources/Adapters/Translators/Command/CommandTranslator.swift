package import Languages
package import ProviderCodecs
package import Providers

/// A program that is started once and answers one request after the other: a line of JSON each way, as `ListCodec` says,
/// with placeholders of a style that fits its engine.
///
/// It has to end when its input closes. A text that ended it twice is not given to it again; one that ended it once is
/// given to it alone, so that the texts beside it do not count as guilty.
package struct CommandTranslator: TriedTranslationEngine {
    package static let maxTextLength = 2_000

    package let name: String
    package let kind = TranslationKind.model
    package let isHosted: Bool
    private let arguments: [String]
    private let pairs: LanguagePairs
    private let style: PlaceholderStyle
    private let child: SupervisedChild

    /// - Parameters:
    ///   - arguments: the program, by path or by name, and its arguments.
    ///   - style: `[X1]` is what small neural models return best.
    package init(
        _ arguments: [String], pairs: LanguagePairs, style: PlaceholderStyle = .square, isHosted: Bool = false,
        limits: SupervisedChild.Limits = .init()
    ) {
        self.arguments = arguments
        self.pairs = pairs
        self.style = style
        self.isHosted = isHosted
        let program = arguments.first ?? ""
        name = String((program.split(separator: "/").last.map(String.init) ?? "command").prefix(64))
        let example = pairs.example
        child = SupervisedChild(
            .init(commands: [arguments], delimiter: UInt8(ascii: "\n"), delimiterCount: 1) {
                Self.test(from: example.source, into: example.target)
            }, limits: limits)
    }

    package var program: String { arguments.first ?? "" }
    package var isInstalled: Bool { ProgramRun.isInstalled(program) }
    package var status: SupervisedChild.Status { child.status }

    /// Ends the program after what waits, such as before the server stops.
    package func rest() async { await child.rest() }

    /// Starts it again if it ended too often.
    package func reset() { child.reset() }

    package func translates(from source: LanguageTag, into target: LanguageTag) -> Bool {
        isInstalled && pairs.contains(source, target)
    }

    package func report(deadline: ContinuousClock.Instant) async -> EngineReport {
        guard isInstalled else {
            return EngineReport(name: name, isHosted: isHosted, problem: "the program \(program) is not installed")
        }
        if status.isOff {
            return EngineReport(
                name: name, isHosted: isHosted, problem: "it ended \(status.ends) times and is off until a reload")
        }
        return await report(from: pairs.example.source, into: pairs.example.target, deadline: deadline)
    }

    package func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        guard pairs.contains(request.source, request.target) else { throw .pairNotSupported }
        // Terms are in the texts.
        var plain = request
        plain.terms = []
        let written = request.textsWithTerms.map { $0.written(as: style) }
        var results = [TranslationResult?](repeating: nil, count: written.count)
        var together: [Int] = []
        var alone: [[Int]] = []
        for (index, text) in written.enumerated() {
            if text.text.unicodeScalars.count > Self.maxTextLength {
                results[index] = .failed(.textTooLong)
            } else {
                switch child.fatalCount(Self.key(text)) {
                case 0: together.append(index)
                case 1: alone.append([index])
                default: results[index] = .failed(.ended)
                }
            }
        }
        for group in (together.isEmpty ? [] : [together]) + alone {
            for (index, result) in zip(group, try await self.results(group.map { written[$0] }, plain, deadline)) {
                results[index] = result
            }
        }
        return results.map { $0 ?? .failed(.invalidResponse("a text without a translation")) }
    }

    private func results(
        _ written: [PlaceholderText], _ request: TranslationRequest, _ deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        let id = Self.id()
        let line = ListCodec.request(id: id, request, texts: written.map(\.text)) + [UInt8(ascii: "\n")]
        do throws(ProviderFailure) {
            let response = try await child.response(
                to: .init(line, keys: written.map(Self.key)) { (try? ListCodec.response($0))?.id == id },
                deadline: deadline)
            return Self.results(written, response)
        } catch .cancelled {
            throw .cancelled
        } catch {
            let isLast = written.count == 1 && child.fatalCount(Self.key(written[0])) >= 2
            let failure = isLast ? TranslationFailure.ended : TranslationFailure(error)
            return written.map { _ in .failed(failure) }
        }
    }

    /// An error concerns all texts of its request.
    private static func results(_ written: [PlaceholderText], _ response: [UInt8]) -> [TranslationResult] {
        do throws(TranslationFailure) {
            return try ListCodec.response(response).results(written)
        } catch {
            return written.map { _ in .failed(error) }
        }
    }

    /// One word, whose translation does not matter.
    private static func test(from source: String, into target: String) -> SupervisedChild.Request {
        let id = id()
        guard let source = LanguageTag(wellFormed: source), let target = LanguageTag(wellFormed: target) else {
            return .init([UInt8(ascii: "\n")]) { _ in false }
        }
        let request = TranslationRequest(texts: [], source: source, target: target)
        return .init(ListCodec.request(id: id, request, texts: ["OK"]) + [UInt8(ascii: "\n")]) { line in
            guard let response = try? ListCodec.response(line) else { return false }
            return response.id == id && response.texts?.count == 1
        }
    }

    private static func key(_ text: PlaceholderText) -> Int { text.text.hashValue }

    private static func id() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
