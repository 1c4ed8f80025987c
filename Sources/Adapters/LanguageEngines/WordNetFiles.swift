internal import Foundation
package import Languages

/// The files of WordNet in a directory, such as Debian's `wordnet-base` has in /usr/share/wordnet.
package struct WordNetFiles: Sendable {
    package struct CannotRead: Error, CustomStringConvertible {
        package let description: String
    }

    private let directory: String

    package init(directory: String) { self.directory = directory }

    /// Whether there are any.
    package var exist: Bool { FileManager.default.fileExists(atPath: path("index.verb")) }

    /// The idioms in them. It reads 6 MB, and keeps what is chosen.
    package func idioms() throws(CannotRead) -> IdiomIndex {
        let irregular = WordNet.irregularForms(in: try read("verb.exc"), of: WordNet.firstVerbs)
        var index = IdiomIndex()
        for part in WordNet.PartOfSpeech.allCases {
            let entries = WordNet.offsets(
                in: try read("index.\(part.rawValue)"), of: part, chosen: WordNet.idioms(of: part))
            let name = "data.\(part.rawValue)"
            let file = try open(name)
            defer { try? file.close() }
            for (lemma, offset) in entries {
                let line = try line(at: offset, of: file, name)
                guard let meaning = WordNet.meaning(in: line, at: offset) else { continue }
                index.add(lemma, as: part, meaning: meaning, irregular: irregular)
            }
        }
        return index
    }

    private func path(_ name: String) -> String { directory + "/" + name }

    private func open(_ name: String) throws(CannotRead) -> FileHandle {
        guard let file = FileHandle(forReadingAtPath: path(name)) else {
            throw CannotRead(description: "cannot open \(path(name))")
        }
        return file
    }

    private func read(_ name: String) throws(CannotRead) -> [UInt8] {
        let file = try open(name)
        defer { try? file.close() }
        do {
            let data = try file.read(upToCount: WordNet.maxFileSize + 1) ?? Data()
            guard data.count <= WordNet.maxFileSize else {
                throw CannotRead(description: "\(path(name)) has more than \(WordNet.maxFileSize >> 20) MiB")
            }
            return Array(data)
        } catch {
            throw (error as? CannotRead) ?? CannotRead(description: "cannot read \(path(name)): \(error)")
        }
    }

    private func line(at offset: Int, of file: FileHandle, _ name: String) throws(CannotRead) -> [UInt8] {
        do {
            try file.seek(toOffset: UInt64(offset))
            let data = try file.read(upToCount: WordNet.maxLineSize) ?? Data()
            return Array(data.prefix { $0 != UInt8(ascii: "\n") })
        } catch {
            throw CannotRead(description: "cannot read \(path(name)): \(error)")
        }
    }
}
