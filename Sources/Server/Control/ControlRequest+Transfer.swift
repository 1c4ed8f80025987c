import Foundation
import MediaFiles
import Model
import Services
import Storage
import Transfer

// Requests of `switchboard import` and `switchboard export`.
extension ControlResponse {
    /// A line for each outcome: a word, and the reason after a space.
    init(_ outcomes: [ImportOutcome]) {
        self.init(
            lines: outcomes.map { outcome in
                switch outcome {
                case .new: "new"
                case .newWithout(let note): "new \(note)"
                case .same: "same"
                case .refused(let reason): "refused \(reason)"
                case .stopped: "stopped"
                }
            })
    }

    init(_ outcome: ImportAudioFiles.Outcome) {
        let line =
            switch outcome {
            case .known: "known"
            case .more: "more"
            case .made(let file): "made \(file.text)"
            case .refused(let reason): "refused \(reason)"
            }
        self.init(lines: [line])
    }

    /// Bytes of a part of a sound.
    static let soundPart = 1 << 20

    /// A part of a sound that a message of this server has.
    init(sound name: String, from offset: Int, _ store: Store, _ files: MediaFiles) async throws {
        guard let id = TransferVoice.file(named: name), try await store.read({ try $0.voiceFile(id) }) != nil,
            let file = try? await files.open(id), offset < file.byteCount, offset >= 0
        else {
            self.init(lines: [])
            return
        }
        var part: [UInt8] = []
        try await file.read(offset..<min(offset + Self.soundPart, file.byteCount)) { part += $0 }
        self.init(lines: [Data(part).base64EncodedString()])
    }

    init(json value: some Encodable) throws {
        self.init(lines: [String(decoding: try JSONEncoder().encode(value), as: UTF8.self)])
    }

    /// Some pages of an export.
    init(exporting scope: ExportScope, after cursor: ExportCursor?, _ exporter: Exporter) async throws {
        var lines: [String] = []
        var bytes = 0
        var next = cursor
        repeat {
            let page = try await exporter.page(of: scope, after: next)
            for line in page.lines {
                lines.append(String(decoding: line, as: UTF8.self))
                bytes += line.count
            }
            next = page.next
        } while next != nil && bytes < 1 << 18
        let position = try next.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        self.init(lines: [position ?? ""] + lines)
    }
}

extension ImportOutcome {
    /// Reads a line of the response; nil if it is none.
    init?(line: String) {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (parts.first, parts.dropFirst().first) {
        case ("new", nil): self = .new
        case ("new", let note?): self = .newWithout(note)
        case ("same", nil): self = .same
        case ("refused", let reason?): self = .refused(reason)
        case ("stopped", nil): self = .stopped
        default: return nil
        }
    }
}
