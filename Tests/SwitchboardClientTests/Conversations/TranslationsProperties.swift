import Foundation
import GRDB
import Testing

@testable import SwitchboardClient

/// However sends, edits, deletions, translations, erasures, other languages, restores, lost connections and restarts of the app
/// interleave: nothing is shown beside another text than its own, or in another language than the user's, and in the end
/// what the server has of the newest messages is shown, and stored.
struct TranslationsProperties {
    @Test(arguments: Array(0..<400) + [9173])
    func anyOrderShowsWhatTheServerHas(seed: UInt64) throws {
        var run = try Run(seed: seed)
        for _ in 0..<150 {
            try run.step()
            run.checkWhatIsShown()
        }
        try run.settle()
        run.checkWhatIsShown()
        let (state, server) = (run.state, run.server)
        #expect(run.translations.position?.sequence == Int64(run.counter), "seed \(seed)")
        for message in server.seen(max(1, server.last - Run.window + 1)...max(1, server.last)) {
            let held = try #require(state.messages[message.number], "seed \(seed)")
            let shown = run.translations.translation(of: held)
            #expect(shown == run.rows[message.number], "seed \(seed), \(message.number)")
        }
        // Of older ones nothing that the server has not.
        for (number, message) in state.messages where server.seen(number...number) == [message] {
            guard let shown = run.translations.translation(of: message) else { continue }
            #expect(shown == run.rows[number], "seed \(seed), \(number)")
        }
        #expect(try run.stored() == run.translations.translations.filter { $0.value.isKept }, "seed \(seed)")
    }

    /// A server, the network between, and a client with its store.
    private struct Run {
        static let window = 10

        private enum Item {
            case messages(RowFrame<ConversationRow>)
            case conversation(ConversationSnapshot, StreamPosition)
            case listening
            case rows(RowFrame<TranslationsRow>)
            case snapshot(TranslationsSnapshot, StreamPosition)
        }

        var server = ModelConversation()
        /// What the server has of the texts as they are, in the user's language.
        var rows: [Int: Translation] = [:]
        var counter = 0
        private var language = "pt"
        /// A resumption from before this counter begins anew.
        private var since = 0
        private var published = (messages: 0, rows: 0)
        private var frames: [RowFrame<TranslationsRow>] = []
        private var made: Set<Translation> = []

        var state = ConversationState(id: "c1")
        var translations = TranslationsState()
        private let store: ConversationStore
        private var isListening = false
        /// Each stream is in order; between them there is none.
        private var sent: (messages: [Item], translations: [Item]) = ([], [])
        private var random: SeededGenerator
        private let seed: UInt64

        init(seed: UInt64) throws {
            self.seed = seed
            random = SeededGenerator(seed: seed)
            store = try ConversationStore(path: nil)
        }

        mutating func step() throws {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<20: server.send("m\(server.sequence)", isSeen: Int.random(in: 0..<8, using: &random) > 0)
            case 20..<28: edit { $0.edit($1, "e\($0.sequence)") }
            case 28..<31: edit { $0.delete($1) }
            case 31..<46: translate()
            case 46..<48: erase()
            case 48..<50: (language, isListening) = (language == "pt" ? "ca" : "pt", false); erase()
            case 50..<52: restore()
            case 52..<56: cut()
            case 56..<59: try restart()
            case 59..<75: publish()
            default: try deliver()
            }
        }

        mutating func settle() throws {
            cut()
            publish()
            while !(sent.messages.isEmpty && sent.translations.isEmpty) { try deliver() }
        }

        func stored() throws -> [Int: Translation] {
            var translations = TranslationsState(
                ConversationReading(language: language, mode: .automatic), at: nil)
            try store.loadTranslations(of: 1...Int.max, into: &translations, beside: state)
            return translations.translations
        }

        func checkWhatIsShown() {
            for message in state.messages.values {
                guard let shown = translations.translation(of: message) else { continue }
                #expect(shown.of == message.textVersion && made.contains(shown), "seed \(seed)")
                #expect(shown.language == translations.reading?.language, "seed \(seed)")
            }
        }

        // MARK: The server

        private mutating func edit(_ change: (inout ModelConversation, Int) -> Void) {
            let number = Int.random(in: 1...max(1, server.last), using: &random)
            change(&server, number)
            rows[number] = nil
        }

        private mutating func translate() {
            let number = Int.random(in: 1...max(1, server.last), using: &random)
            guard let message = server.seen(number...number).first, message.deletedAt == nil else { return }
            counter += 1
            let isDone = Bool.random(using: &random)
            if rows[number]?.status == .done, !isDone { return }
            let row = Translation(
                number: number, of: message.textVersion, language: language, status: isDone ? .done : .queued,
                text: isDone ? "t\(counter)" : nil, touched: counter)
            (rows[number], _) = (row, made.insert(row))
            frames.append(RowFrame(rows: [.translation(row)], epoch: server.epoch, after: 0, upTo: counter))
        }

        /// As after a level was lowered, or the settings changed: who listens is sent what there is now.
        private mutating func erase() {
            counter += 1
            (since, rows) = (counter, [:])
            if isListening { sent.translations.append(snapshot()) }
            published.rows = frames.count
        }

        private mutating func restore() {
            cut()
            server.restore()
            (published, frames) = ((0, 0), [])
        }

        private func snapshot() -> Item {
            let newest = max(1, server.last - Self.window + 1)...max(1, server.last)
            let shown = server.seen(newest).compactMap { rows[$0.number] }
            return .snapshot(
                TranslationsSnapshot(
                    reading: ConversationReading(language: language, mode: .automatic), translations: shown),
                StreamPosition(epoch: server.epoch, sequence: Int64(counter)))
        }

        private mutating func publish() {
            if !isListening { return listen() }
            sent.messages += server.frames.dropFirst(published.messages).map { .messages($0) }
            sent.translations += frames.dropFirst(published.rows).map { .rows($0) }
            published = (server.frames.count, frames.count)
        }

        private mutating func listen() {
            sent = ([], [])
            isListening = true
            state.resume()
            if let frames = server.resume(state.resumption, window: Self.window, part: 4) {
                sent.messages = frames.map { .messages($0) }
            } else {
                let (snapshot, position) = server.snapshot(window: Self.window)
                sent.messages = [.conversation(snapshot, position)]
            }
            sent.messages.append(.listening)
            if let held = translations.position, held.epoch == server.epoch, held.sequence >= since {
                let changed = rows.values.filter { $0.touched > held.sequence }.sorted { $0.touched < $1.touched }
                let rows = changed.map { TranslationsRow.translation($0) }
                sent.translations = [.rows(RowFrame(rows: rows, epoch: server.epoch, after: 0, upTo: counter))]
            } else {
                sent.translations = [snapshot()]
            }
            published = (server.frames.count, frames.count)
        }

        // MARK: The client

        private mutating func cut() {
            sent = ([], [])
            isListening = false
            state.resume()
        }

        private mutating func restart() throws {
            cut()
            state = try store.conversation("c1", limit: 200) ?? ConversationState(id: "c1")
            translations = try store.translations(beside: state)
        }

        private mutating func deliver() throws {
            let isOfMessages = sent.translations.isEmpty || Bool.random(using: &random)
            if isOfMessages, !sent.messages.isEmpty {
                apply(sent.messages.removeFirst())
            } else if !sent.translations.isEmpty {
                apply(sent.translations.removeFirst())
            }
            // As the endpoint does.
            let changes = state.takeChanges()
            if !changes.isEmpty {
                translations.follow(state, changes)
                try store.save(state, changes)
            }
            let translated = translations.takeChanges()
            if !translated.isEmpty { try store.save(translations, translated, of: "c1") }
        }

        private mutating func apply(_ item: Item) {
            switch item {
            case .messages(let frame): if state.apply(frame) == .hole { isListening = false }
            case .conversation(let snapshot, let position): state.apply(snapshot, at: position)
            case .listening: state.resumed()
            case .rows(let frame): translations.apply(frame, beside: state)
            case .snapshot(let snapshot, let position): translations.apply(snapshot, at: position, beside: state)
            }
        }
    }
}
