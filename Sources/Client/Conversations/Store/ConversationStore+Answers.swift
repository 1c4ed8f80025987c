import Foundation
import GRDB

// Threads of the assistant with their questions and answers. Of a run, the sentences have no texts in its own row:
// these are its derivations.
extension ConversationStore {
    /// Those that were used last first.
    func threads() throws -> [AssistantThread] {
        try database.read { database in
            try Data.fetchAll(database, sql: "SELECT json FROM threads ORDER BY updatedAt DESC, id DESC")
                .map { try StoredJSON.decode(AssistantThread.self, $0) }
        }
    }

    /// A thread with its stored runs, the oldest first, as of a time.
    func thread(_ id: AssistantThreadID, at now: Date) throws -> (thread: AssistantThread, runs: [AssistantRun])? {
        try database.read { database in
            guard let thread = try thread(id, database) else { return nil }
            let stored = try Data.fetchAll(
                database, sql: "SELECT json FROM runs WHERE thread = ? ORDER BY askedAt, position",
                arguments: [id.rawValue])
            let runs = try stored.map { data in
                var run = try StoredJSON.decode(AssistantRun.self, data)
                let texts = try derivations(of: DerivationOwner.run(run.id), at: now, database)
                for index in run.sentences.indices where !run.sentences[index].isWithdrawn {
                    if let text = texts[index] {
                        run.sentences[index] = try StoredJSON.decode(AnswerSentence.self, text)
                    } else {
                        run.sentences[index].withdraw()
                    }
                }
                return run
            }
            return (thread, runs)
        }
    }

    /// The runs of a thread that are stored.
    func runIDs(of thread: AssistantThreadID) throws -> Set<AssistantRunID> {
        try database.read { database in
            let ids = try String.fetchAll(
                database, sql: "SELECT id FROM runs WHERE thread = ?", arguments: [thread.rawValue])
            return Set(ids.map { AssistantRunID($0) })
        }
    }

    private func thread(_ id: AssistantThreadID, _ database: Database) throws -> AssistantThread? {
        try Data.fetchOne(database, sql: "SELECT json FROM threads WHERE id = ?", arguments: [id.rawValue])
            .map { try StoredJSON.decode(AssistantThread.self, $0) }
    }
}

// The threads that were read.
extension ConversationStore {
    /// Takes a page of threads.
    ///
    /// - Parameter known: of the first page, the threads that were stored when it was asked for: those that are not on
    ///   it, where they would be, are gone.
    /// - Parameter erased: the ids of threads and runs that are not taken over.
    func save(
        _ page: AssistantThreadPage, replacing known: Set<AssistantThreadID> = [], except erased: Set<String> = []
    ) throws {
        try database.write { database in
            let listed = Set(page.threads.map(\.id))
            for id in known.subtracting(listed) {
                guard let thread = try thread(id, database) else { continue }
                // A thread that is used again moves up, never down.
                if let last = page.threads.last, page.nextCursor != nil, thread.updatedAt <= last.updatedAt { continue }
                try remove(id, database)
            }
            for thread in page.threads where !erased.contains(thread.id.rawValue) { try save(thread, database) }
            try shrinkAnswers(database)
        }
    }

    /// Takes a thread with all of its runs.
    ///
    /// - Parameter known: the runs that were stored when it was asked for: those that it does not have are gone.
    /// - Parameter erased: the ids of threads and runs that are not taken over.
    func save(
        _ thread: AssistantThread, _ runs: [AssistantRun], replacing known: Set<AssistantRunID> = [],
        except erased: Set<String> = []
    ) throws {
        try database.write { database in
            try save(thread, database)
            for id in known.subtracting(runs.map(\.id)) {
                try database.execute(sql: "DELETE FROM runs WHERE id = ?", arguments: [id.rawValue])
            }
            for (position, run) in runs.enumerated() where !erased.contains(run.id.rawValue) {
                try save(run, at: position, database)
            }
            try shrinkAnswers(database)
        }
    }

    /// Takes a run, also of a thread that is not known, such as a new one.
    ///
    /// - Parameter position: among those that were asked at the same time; nil is after those that are stored.
    func save(_ run: AssistantRun, at position: Int? = nil) throws {
        guard run.status != .running else { return }
        try database.write { database in
            var thread = try thread(run.thread, database) ?? AssistantThread(run)
            let next: Int? = try Int.fetchOne(
                database,
                sql: """
                    SELECT coalesce((SELECT position FROM runs WHERE id = ?1),
                        (SELECT max(position) + 1 FROM runs WHERE thread = ?2))
                    """,
                arguments: [run.id.rawValue, run.thread.rawValue])
            try save(run, at: position ?? next ?? 0, database)
            let count = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM runs WHERE thread = ?", arguments: [run.thread.rawValue])
            thread.updatedAt = max(thread.updatedAt, run.askedAt)
            thread.runs = max(thread.runs, count ?? 1)
            try save(thread, database)
            try shrinkAnswers(database)
        }
    }

    /// Unless a newer one is stored.
    private func save(_ thread: AssistantThread, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO threads VALUES (?, ?, ?) ON CONFLICT (id) DO
                UPDATE SET updatedAt = excluded.updatedAt, json = excluded.json WHERE updatedAt <= excluded.updatedAt
                """,
            arguments: [thread.id.rawValue, thread.updatedAt.timeIntervalSince1970, try StoredJSON.encode(thread)])
    }

    /// Takes a run that has ended: what becomes of others is not known yet.
    private func save(_ run: AssistantRun, at position: Int, _ database: Database) throws {
        guard run.status != .running else { return }
        var stored = run
        var derivations: [StoredDerivation] = []
        for (index, sentence) in run.sentences.enumerated() where !sentence.isWithdrawn {
            stored.sentences[index].text = ""
            derivations.append(
                StoredDerivation(
                    position: index, json: try StoredJSON.encode(sentence), citations: sentence.citations))
        }
        let json = try StoredJSON.encode(stored)
        let bytes = derivations.reduce(json.count) { $0 + $1.json.count }
        try database.execute(
            sql: "INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?)",
            arguments: [
                run.id.rawValue, run.thread.rawValue, run.askedAt.timeIntervalSince1970, position, bytes, json,
            ])
        try save(derivations, of: DerivationOwner.run(run.id), database)
    }

    /// Removes what there is no room for: threads beyond the limit, and the oldest runs of those that were used longest
    /// ago.
    private func shrinkAnswers(_ database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM threads WHERE id IN (
                    SELECT id FROM threads ORDER BY updatedAt DESC, id DESC LIMIT -1 OFFSET ?)
                """,
            arguments: [limits.threads])
        let bytes = try Int.fetchOne(database, sql: "SELECT sum(bytes) FROM runs") ?? 0
        guard bytes > limits.answerBytes else { return }
        try database.execute(
            sql: """
                DELETE FROM runs WHERE id IN (
                    SELECT id FROM (
                        SELECT r.id, sum(r.bytes) OVER (
                            ORDER BY t.updatedAt DESC, t.id DESC, r.askedAt DESC, r.position DESC, r.id) AS bytes
                        FROM runs r JOIN threads t ON t.id = r.thread)
                    WHERE bytes > ?)
                """,
            arguments: [limits.answerBytes])
    }
}

// Removing runs and threads.
extension ConversationStore {
    func remove(_ id: AssistantThreadID) throws { try database.write { try remove(id, $0) } }

    private func remove(_ id: AssistantThreadID, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM threads WHERE id = ?", arguments: [id.rawValue])
    }

    /// Removes a run; its thread is removed with its last run. The thread of a run that is not stored is not known
    /// here: so all threads are removed that have one run, which is not stored.
    func remove(_ id: AssistantRunID) throws {
        try database.write { database in
            let stored = try String.fetchOne(
                database, sql: "SELECT thread FROM runs WHERE id = ?", arguments: [id.rawValue])
            guard let stored else { return try removeUnread(database) }
            try database.execute(sql: "DELETE FROM runs WHERE id = ?", arguments: [id.rawValue])
            guard var thread = try thread(AssistantThreadID(stored), database) else { return }
            thread.runs -= 1
            if thread.runs > 0 { try save(thread, database) } else { try remove(thread.id, database) }
        }
    }

    private func removeUnread(_ database: Database) throws {
        let unread = try Data.fetchAll(
            database, sql: "SELECT json FROM threads WHERE id NOT IN (SELECT thread FROM runs)")
        for thread in try unread.map({ try StoredJSON.decode(AssistantThread.self, $0) }) where thread.runs <= 1 {
            try remove(thread.id, database)
        }
    }
}

extension AnswerSentence {
    mutating func withdraw() { (text, isWithdrawn) = ("", true) }
}

extension AssistantThread {
    /// In characters: as the server makes it.
    private static let titleLength = 80

    /// Of a thread of which nothing but a run is known.
    init(_ run: AssistantRun) {
        self.init(
            id: run.thread, title: String(run.question.prefix(Self.titleLength)), createdAt: run.askedAt,
            updatedAt: run.askedAt, runs: 1)
    }
}
