import Foundation
import Translators

/// Lets the running server try each of its engines of a kind with a few words that nobody wrote, or a sound that nobody made.
struct EngineProbe: Sendable {
    let server: RunningServer
    private let request: CheckRequest
    /// Why there may be none.
    private let absence: String
    /// What is to be corrected.
    private let settings: String

    static func translation(_ server: RunningServer) -> EngineProbe {
        EngineProbe(
            server: server, request: .translation,
            absence: "languages.translation.provider is none, and no Apertium is installed",
            settings: "languages.translation")
    }

    static func meaning(_ server: RunningServer) -> EngineProbe {
        EngineProbe(
            server: server, request: .embedding, absence: "languages.embeddings.provider is none",
            settings: "languages.embeddings")
    }

    static func explanation(_ server: RunningServer) -> EngineProbe {
        EngineProbe(
            server: server, request: .explanation,
            absence: "languages.model.provider is none, and languages.lexicons.wordnet is empty",
            settings: "languages.model or languages.lexicons")
    }

    static func transcription(_ server: RunningServer) -> EngineProbe {
        EngineProbe(
            server: server, request: .transcription, absence: "transcription.provider is none",
            settings: "transcription")
    }

    func run() async -> CheckOutcome {
        do throws(CheckProblem) {
            let text = try await server.ask(request)
            guard let reports = try? JSONDecoder().decode([EngineReport].self, from: Data(text.utf8)) else {
                throw CheckProblem("the server's list of engines cannot be read", remedy: "Look at its log.")
            }
            return evaluate(reports)
        } catch {
            return .failed(error)
        }
    }

    func evaluate(_ reports: [EngineReport]) -> CheckOutcome {
        guard !reports.isEmpty else {
            return .notConfigured(absence)
        }
        let problems = reports.compactMap { report in report.problem.map { "\(report.name): \($0)" } }
        guard problems.isEmpty else {
            return .failed(
                CheckProblem(
                    problems.joined(separator: "; "),
                    remedy: "Correct \(settings), or the service; `switchboard reload` starts programs again."
                ))
        }
        return .passed(
            reports.map { report in
                ([report.name + (report.isHosted ? " (hosted)" : "")] + report.details).joined(separator: ", ")
            }.joined(separator: "; "))
    }
}
