import Foundation

/// A bar on the terminal's last line, and nothing where the standard error is no terminal.
struct ProgressBar: Sendable {
    private static let width = 30
    private let isTerminal = isatty(FileHandle.standardError.fileDescriptor) == 1

    /// Shows how much of it is done (0 to 1), and some words.
    func show(_ share: Double, _ words: String) {
        guard isTerminal else { return }
        let done = Int((share * Double(Self.width)).rounded())
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: Self.width - done)
        write("\r\u{1B}[2K\(bar) \(words)")
    }

    /// Takes the bar away.
    func clear() {
        if isTerminal { write("\r\u{1B}[2K") }
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
