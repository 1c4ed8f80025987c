internal import Foundation
package import Languages
internal import ProviderCodecs
package import Providers

/// Apertium between close languages, as Debian packages it: a pipeline of small programs for each direction, which are
/// children of this process and not a server that everybody can ask.
///
/// Two directions run at a time; a third waits until one is unused, which then ends. Directions whose programs or data are
/// not installed are not translated. What it does with a text, and how it survives its programs, is said at
/// `ApertiumStream`, `ApertiumOutput` and `SupervisedChild`.
package struct ApertiumTranslator: TriedTranslationEngine {
    package static let maxTextLength = 2_000
    private static let maxPipelines = 2
    private static let maxProblems = 3

    package let name = "apertium"
    package let kind = TranslationKind.rules
    package let isHosted = false

    private struct Direction: Sendable {
        var pair: ApertiumPair
        var child: SupervisedChild
    }

    private let directions: [Direction]
    private let slots = PipelineSlots(count: Self.maxPipelines)

    /// - Parameter directory: Debian's, with `modes` in it.
    package init(directory: String = "/usr/share/apertium", limits: SupervisedChild.Limits = .init()) {
        // Most directions have the same programs, and each is looked for in every folder of `PATH`.
        var programs: [String: Bool] = [:]
        directions = ApertiumPair.all.compactMap { pair in
            guard let mode = Self.mode(pair, directory, &programs) else { return nil }
            // They read and write UTF-8 only in a locale of it.
            let program = SupervisedChild.Program(
                commands: mode.commands, environment: ["LC_ALL": "C.UTF-8"], delimiter: ApertiumStream.delimiter,
                delimiterCount: ApertiumStream.delimiterCount
            ) {
                let nonce = Self.nonce()
                return .init(
                    ApertiumStream.request(MaskedText("", keeping: []).written(as: .superblanks), nonce: nonce)
                ) {
                    ApertiumStream.translation(in: $0, nonce: nonce) == ""
                }
            }
            return Direction(pair: pair, child: SupervisedChild(program, limits: limits))
        }
    }

    /// Nil if something of it is not installed.
    ///
    /// - Parameter programs: whether those that were looked for are installed.
    private static func mode(
        _ pair: ApertiumPair, _ directory: String, _ programs: inout [String: Bool]
    ) -> ApertiumMode? {
        guard
            let text = try? String(contentsOfFile: "\(directory)/modes/\(pair.mode).mode", encoding: .utf8),
            let mode = ApertiumMode(text, withoutTagger: pair.isTaggerBroken),
            mode.files.allSatisfy({ FileManager.default.isReadableFile(atPath: $0) })
        else { return nil }
        for command in mode.commands {
            guard let program = command.first else { return nil }
            let isInstalled = programs[program] ?? ProgramRun.isInstalled(program)
            programs[program] = isInstalled
            guard isInstalled else { return nil }
        }
        return mode
    }

    /// The modes that are installed.
    package var modes: [String] { directions.map(\.pair.mode) }

    package var statuses: [(mode: String, status: SupervisedChild.Status)] {
        directions.map { ($0.pair.mode, $0.child.status) }
    }

    package func translates(from source: LanguageTag, into target: LanguageTag) -> Bool {
        direction(source, target) != nil
    }

    private func direction(_ source: LanguageTag, _ target: LanguageTag) -> Direction? {
        directions.first { $0.pair.fits(source, target) }
    }

    /// Ends all programs after what waits, such as before the server stops.
    package func rest() async {
        for direction in directions { await direction.child.rest() }
    }

    /// Starts those again that ended too often.
    package func reset() {
        for direction in directions { direction.child.reset() }
    }

    /// All directions, one after the other, each of which has as much time as there is until the deadline: it starts about
    /// ten programs. There is a problem if one of them has one; after a few of those the others are not tried.
    package func report(deadline: ContinuousClock.Instant) async -> EngineReport {
        let timeout = ContinuousClock.now.duration(to: deadline)
        var report = EngineReport(name: name, isHosted: isHosted)
        var problems: [String] = []
        for direction in directions where problems.count < Self.maxProblems {
            let mode = direction.pair.mode
            if direction.child.status.isOff {
                problems.append("\(mode) ended \(direction.child.status.ends) times and is off until a reload")
                continue
            }
            let one = await self.report(
                from: direction.pair.source, into: direction.pair.target, deadline: .now + timeout)
            if let problem = one.problem { problems.append("\(mode): \(problem)") } else { report.details.append(mode) }
        }
        if !problems.isEmpty { report.problem = problems.joined(separator: "; ") }
        return report
    }

    package func translate(
        _ request: TranslationRequest, deadline: ContinuousClock.Instant
    ) async throws(TranslationFailure) -> [TranslationResult] {
        guard let direction = direction(request.source, request.target) else { throw .pairNotSupported }
        do {
            return try await Deadline.race(deadline) { () async throws(ProviderFailure) in
                let lease = try await slots.acquire(direction.pair.mode)
                if let replaced = directions.first(where: { $0.pair.mode == lease.replaced }) {
                    await replaced.child.rest()
                }
                let results = await Self.results(request.textsWithTerms, direction.child, deadline)
                await slots.release(lease)
                return try results.get()
            }
        } catch {
            throw TranslationFailure(error)
        }
    }

    /// - Returns: the failure that all have in common.
    private static func results(
        _ texts: [MaskedText], _ child: SupervisedChild, _ deadline: ContinuousClock.Instant
    ) async -> Result<[TranslationResult], ProviderFailure> {
        var results: [TranslationResult] = []
        var failures: [ProviderFailure] = []
        for text in texts {
            do throws(ProviderFailure) {
                results.append(try await result(text, child, deadline))
            } catch .cancelled {
                return .failure(.cancelled)
            } catch {
                failures.append(error)
                results.append(.failed(TranslationFailure(error)))
            }
        }
        guard let failure = failures.first, failures.count == texts.count else { return .success(results) }
        return .failure(failure)
    }

    private static func result(
        _ masked: MaskedText, _ child: SupervisedChild, _ deadline: ContinuousClock.Instant
    ) async throws(ProviderFailure) -> TranslationResult {
        let text = masked.written(as: .superblanks)
        guard text.text.unicodeScalars.count <= maxTextLength else { return .failed(.textTooLong) }
        let key = text.text.hashValue
        if child.fatalCount(key) >= 2 { return .failed(.ended) }
        let nonce = nonce()
        let response: [UInt8]
        do throws(ProviderFailure) {
            response = try await child.response(
                to: .init(ApertiumStream.request(text, nonce: nonce), keys: [key]) {
                    ApertiumStream.translation(in: $0, nonce: nonce) != nil
                }, deadline: deadline)
        } catch {
            guard child.fatalCount(key) >= 2 else { throw error }
            return .failed(.ended)
        }
        let output = ApertiumOutput(ApertiumStream.translation(in: response, nonce: nonce) ?? "")
        guard output.isUnderstood(wordsInText: masked.wordCount) else { return .failed(.unknownWords) }
        return text.result(output.text)
    }

    private static func nonce() -> String { String(UInt64.random(in: .min ... .max), radix: 36) }
}
