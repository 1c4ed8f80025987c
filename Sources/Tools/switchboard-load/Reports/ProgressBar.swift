import Foundation

/// A progress bar on the terminal's last line; nothing if standard error is not a terminal.
struct ProgressBar: Sendable {
    private static let width = 30
    private let isTerminal = isatty(FileHandle.standardError.fileDescriptor) == 1

    /// Shows the progress (0 to 1) and a text.
    func show(_ share: Double, _ text: String) {
        guard isTerminal else { return }
        let done = Int((share * Double(Self.width)).rounded())
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: Self.width - done)
        write("\r\u{1B}[2K\(bar) \(text)")
    }

    /// Removes the bar.
    func clear() {
        if isTerminal { write("\r\u{1B}[2K") }
    }

    private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
