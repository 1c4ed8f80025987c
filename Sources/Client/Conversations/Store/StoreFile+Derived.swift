// The tables of derivations from messages other than translations: answers of the assistant, and summaries.
extension StoreFile {
    /// Each sentence of an answer, and each item of a summary, is a row of `derivations`, and the messages that it is
    /// based on are rows of `citations`. When a citation is removed, the derivation that is based on it is removed too.
    /// A sentence without a row is withdrawn.
    ///
    /// A citation `isStored` if its message is, and `isKnown` if that was so once: only then is it known when the
    /// message disappears.
    static let derived = """
        CREATE TABLE IF NOT EXISTS threads (
            id TEXT PRIMARY KEY, updatedAt REAL NOT NULL, json BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS runs (
            id TEXT PRIMARY KEY, thread TEXT NOT NULL, askedAt REAL NOT NULL, position INTEGER NOT NULL,
            bytes INTEGER NOT NULL, json BLOB NOT NULL) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS runsOfThreads ON runs (thread, askedAt, position, bytes);
        CREATE TABLE IF NOT EXISTS summaries (
            conversation TEXT PRIMARY KEY, receivedAt REAL NOT NULL, json BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS derivations (
            owner TEXT, position INTEGER, json BLOB NOT NULL, PRIMARY KEY (owner, position)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS citations (
            conversation TEXT, number INTEGER, owner TEXT, position INTEGER, textVersion INTEGER NOT NULL,
            isStored INTEGER NOT NULL DEFAULT 0, isKnown INTEGER NOT NULL, expires INTEGER,
            PRIMARY KEY (conversation, number, owner, position)) WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS citationsOfOwners ON citations (owner, position);
        CREATE INDEX IF NOT EXISTS expiringCitations ON citations (expires) WHERE expires IS NOT NULL;
        CREATE TRIGGER IF NOT EXISTS threadRemoved AFTER DELETE ON threads BEGIN
            DELETE FROM runs WHERE thread = old.id;
        END;
        CREATE TRIGGER IF NOT EXISTS runRemoved AFTER DELETE ON runs BEGIN
            DELETE FROM derivations WHERE owner = 'run:' || old.id;
        END;
        CREATE TRIGGER IF NOT EXISTS summaryRemoved AFTER DELETE ON summaries BEGIN
            DELETE FROM derivations WHERE owner = 'summary:' || old.conversation;
        END;
        CREATE TRIGGER IF NOT EXISTS derivationRemoved AFTER DELETE ON derivations BEGIN
            DELETE FROM citations WHERE owner = old.owner AND position = old.position;
        END;
        CREATE TRIGGER IF NOT EXISTS citationRemoved AFTER DELETE ON citations BEGIN
            DELETE FROM derivations WHERE owner = old.owner AND position = old.position;
        END;
        \(cited)
        """

    /// What becomes of citations with their messages. One of a message that the store only has no room for is not
    /// stored any more, but stays.
    private static let cited = """
        CREATE TRIGGER IF NOT EXISTS citedRemoved AFTER DELETE ON messages BEGIN
            DELETE FROM citations WHERE conversation = old.conversation AND number = old.number AND isStored;
        END;
        CREATE TRIGGER IF NOT EXISTS citedStored AFTER INSERT ON messages BEGIN
            DELETE FROM citations WHERE conversation = new.conversation AND number = new.number
                AND (new.textVersion IS NULL OR textVersion < new.textVersion);
            UPDATE citations SET isStored = 1, isKnown = 1, expires = new.expires
                WHERE conversation = new.conversation AND number = new.number;
        END;
        """
}
