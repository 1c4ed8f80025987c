import Foundation

/// Speech that flite makes, and that pocketsphinx recognizes, at 16 kHz.
package enum Flite {
    package static let isInstalled = Program.isInstalled("flite")
    package static let hasRecognizer = isInstalled && Program.isInstalled("pocketsphinx_continuous")

    package static func say(_ words: String) throws -> [Int16] {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let file = directory.file("speech.wav")
        try Program.run("flite", ["-voice", "slt", "-t", words, "-o", file])
        let bytes = Array(try Data(contentsOf: URL(filePath: file)))
        // A header of 44 bytes, then samples.
        return stride(from: 44, to: bytes.count - 1, by: 2).map { Int16(bytes[$0]) | Int16(bytes[$0 + 1]) << 8 }
    }

    package static func silence(_ seconds: Double) -> [Int16] { Array(repeating: 0, count: Int(seconds * 16_000)) }

    package static func recognize(_ samples: [Int16]) throws -> String {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let file = directory.file("speech.raw")
        let bytes = (silence(0.5) + samples + silence(0.5)).flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        try Data(bytes).write(to: URL(filePath: file))
        return try Program.run("pocketsphinx_continuous", ["-infile", file, "-logfn", "/dev/null"])
            .split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
