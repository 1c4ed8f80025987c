internal import Foundation
internal import Providers

/// Transcribes with a local program.
///
/// The program gets a WAV file where its arguments contain `{file}`, otherwise PCM (16 bits, 16 kHz, mono,
/// little-endian) on standard input; `{language}` stands for the language, where it is known. It writes plain text to
/// standard output, or one of the formats of `CommandOutput`. No shell is involved.
package struct CommandTranscriber: Transcriber {
    private static let maxResponseSize = 4 << 20

    private let arguments: [String]

    /// - Parameter arguments: the program, by path or by name, and its arguments.
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
    package var name: String { String((program.split(separator: "/").last ?? "").prefix(64)) }

    package var program: String { arguments.first ?? "" }

    /// Whether the program is installed now. A later use may still fail.
    package var isInstalled: Bool { ProgramRun.isInstalled(program) }

    package func transcribe(
        _ audio: SpeechAudio, language: String?, deadline: ContinuousClock.Instant
    ) async throws(TranscriptionFailure) -> Transcript {
        let hasFile = arguments.contains { $0.contains("{file}") }
        let run = ProgramRun(
            arguments.map { $0.replacing("{language}", with: language ?? "") },
            input: hasFile
                ? .file(WAVEncoder.encode(audio), name: "speech.wav", placeholder: "{file}") : .stream(audio.bytes),
            maxOutputSize: Self.maxResponseSize, deadline: deadline)
        let output: [UInt8]
        do { output = try await run.output() } catch { throw TranscriptionFailure(error) }
        return try CommandOutput.read(output, language: language, duration: audio.milliseconds)
    }
}
