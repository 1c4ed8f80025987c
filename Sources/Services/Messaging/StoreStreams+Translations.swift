import Languages
import Messaging
import Model
import Realtime
import Storage

// Translations: keyed state, in the language of each listener.
extension StoreStreams {
    func openTranslations(
        of id: ConversationID, after: Position?, for principal: Principal
    ) async throws -> StreamOpening {
        // Translations that are demanded now are either in the read that follows, or come after it.
        try await translations.listens(principal.user, to: id)
        try await hints.listens(principal.user, to: id)
        return try await readTranslations(of: id, after: after, for: principal)
    }

    /// Without demanding anything.
    func readTranslations(
        of id: ConversationID, after: Position?, for principal: Principal
    ) async throws -> StreamOpening {
        let (commands, user) = (conversations, principal.user)
        return try await store.read { store in
            let found = try commands.listen(id, by: user, in: store)
            let reader = try commands.translationReader(user, in: id, store)
            let position = try store.marksPosition()
            var view = try commands.view(of: found, in: store)
            view.language = reader.target?.text
            view.hintAudience = reader.hintAudience
            var reset: ResetReason?
            if let after {
                reset = after.epoch == position.epoch ? .gap : .epoch
                let since = max(reader.since, try store.translationsSince())
                if reset == .gap, after.sequence <= position.sequence, after.sequence >= since,
                    let rows = try commands.seenTranslations(
                        of: found, reader, touchedAfter: after.sequence, in: store),
                    let hints = try commands.seenHints(of: found, reader, touchedAfter: after.sequence, in: store)
                {
                    let json =
                        rows.map { ConversationRow($0, for: .readers).json }
                        + hints.map { ConversationRow($0, for: .readers).json }
                    return .state(StateOpening(.rows(json, after: after.sequence), position, view: view))
                }
            }
            let seen = try commands.newestTranslations(of: found, reader, in: store)
            let hints = try commands.newestHints(of: found, reader, in: store)
            var writer = JSONWriter(capacity: 1024)
            writer.object { writer in
                writer.member("language", reader.language?.string)
                writer.member("tone", reader.tone?.rawValue)
                writer.member("mode", reader.mode.rawValue)
                writer.name("translations")
                writer.array(seen) { $1.write(to: &$0) }
                writer.member("hintMode", reader.hints.rawValue)
                writer.name("hints")
                writer.array(hints) { $1.write(to: &$0) }
            }
            return .state(StateOpening(.snapshot(writer.bytes), position, reset: reset, view: view))
        }
    }
}
