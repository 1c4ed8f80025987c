internal import Foundation

/// Has a program of this machine write down what is said.
///
/// The program gets a WAV file where its arguments hold `{file}`, else PCM (16 bits, 16 kHz, mono, the low byte first) on
/// standard input; `{language}` stands for the language, where it is known. It writes the text on standard output, as it
/// is, or in one of the forms that `CommandAnswer` knows. No shell reads any of it.
package struct CommandTranscriber: Transcriber {
    private static let largestAnswer = 4 << 20

    private let arguments: [String]

    /// - Parameter arguments: the program, by path or by name, and what it is told.
    package init(_ arguments: [String]) {
        self.arguments = arguments
    }

    /// Debian's speech engine: of Debian 12, where it is installed, else of Debian 13.
    package static func pocketsphinx() -> CommandTranscriber {
        let older = CommandTranscriber([
            "pocketsphinx_continuous", "-infile", "{file}", "-time", "yes", "-logfn", "/dev/null",
        ])
        return older.isInstalled
            ? older : CommandTranscriber(["pocketsphinx", "-loglevel", "ERROR", "single", "{file}"])
    }

    package var identity: String { "command " + arguments.joined(separator: " ") }

    package var program: String { arguments.first ?? "" }

    /// Whether there is such a program now. It may come and go: the first use says so, too.
    package var isInstalled: Bool {
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) }
        guard !program.isEmpty else { return false }
        return ProgramRun.path.split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    package func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let hasFile = arguments.contains { $0.contains("{file}") }
        let run = ProgramRun(
            arguments.map { $0.replacing("{language}", with: language ?? "") },
            input: hasFile ? .file(WAVEncoder.encode(audio), placeholder: "{file}") : .stream(audio.bytes),
            largestOutput: Self.largestAnswer, deadline: deadline)
        let output = try await run.output()
        return try CommandAnswer.read(output, language: language, soundOf: audio.milliseconds)
    }
}
