/// The programs of a mode, each with its arguments, as Apertium's mode files have them:
///
/// ```
/// lt-proc '/usr/share/apertium/apertium-es-pt/es-pt.automorf.bin' | apertium-tagger -g $2 '…/es-pt.prob' | …
/// ```
/// `$1` says how the generator marks what it does not know, `$2` nothing here. Every program gets `-z`, with which it writes
/// out its results at each NUL, and keeps running.
package struct ApertiumMode: Hashable, Sendable {
    private static let programs: Set<String> = [
        "lt-proc", "cg-proc", "apertium-tagger", "apertium-pretransfer", "apertium-transfer", "apertium-interchunk",
        "apertium-postchunk", "apertium-anaphora", "apertium-wblank-attach", "apertium-wblank-detach", "lrx-proc",
        "lsx-proc", "rtx-proc",
    ]

    package let commands: [[String]]

    /// - Returns: nil if it is no mode's file, or has a program that is not Apertium's.
    package init?(_ text: String, withoutTagger: Bool = false) {
        var commands: [[String]] = []
        for part in text.split(separator: "|", omittingEmptySubsequences: false) {
            guard var words = Self.words(part), let program = words.first, Self.programs.contains(program) else {
                return nil
            }
            words.insert("-z", at: 1)
            commands.append(words)
        }
        if withoutTagger { Self.removeTagger(&commands) }
        self.commands = commands
    }

    /// Those that must exist.
    package var files: [String] { commands.joined().filter { $0.hasPrefix("/") } }

    /// The constraint grammar before it then writes the first analysis that is left, as a tagger does.
    private static func removeTagger(_ commands: inout [[String]]) {
        for index in commands.indices.dropFirst().reversed()
        where commands[index][0] == "apertium-tagger" && commands[index - 1][0] == "cg-proc" {
            commands.remove(at: index)
            commands[index - 1].insert(contentsOf: ["-1", "-n"], at: 1)
        }
    }

    private static func words(_ command: Substring) -> [String]? {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in command {
            switch character {
            case "'":
                isQuoted.toggle()
                word = word ?? ""
            case _ where character.isWhitespace && !isQuoted:
                if let word { words.append(word) }
                word = nil
            // Of a shell, which is not involved.
            case ";", "&", "<", ">", "`", "\"", "\\": return nil
            default: word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted else { return nil }
        if let word { words.append(word) }
        return words.compactMap { $0 == "$1" ? "-g" : $0 == "$2" ? nil : $0 }
    }
}
