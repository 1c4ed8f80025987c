package import Model

/// A database error, with a message that tells an operator what to do.
package struct SQLError: Error, Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// The directory or file cannot be opened or written to.
        case unwritable
        /// There is no directory or no database where one is expected.
        case missing
        /// Another process holds the database or its directory.
        case locked
        case diskFull
        /// The file is not a database or is damaged.
        case damaged
        /// A newer version of the program has migrated the database.
        case newer
        /// A UNIQUE, NOT NULL, CHECK or foreign key constraint rejected a row.
        case constraint
        /// A row has a value that the code does not expect.
        case unexpectedValue
        /// The queue of writes is full.
        case overloaded
        case closed
        /// A statement is wrong, or the error has no kind of its own.
        case failed
    }

    package var kind: Kind
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The problem for the client: it reveals no internals and says whether a retry makes sense.
    package var problem: Problem {
        switch kind {
        case .diskFull:
            Problem(.storageFull, "The server has no room to store anything; try again later.", retryAfter: 5000)
        case .locked, .overloaded, .closed:
            Problem(.unavailable, "The server's database is busy or unavailable; try again.", retryAfter: 1000)
        case .unwritable, .missing, .damaged, .newer, .constraint, .unexpectedValue, .failed:
            Problem(.internalError, "The server's database failed to process the request.")
        }
    }
}

extension SQLError: CustomStringConvertible {
    package var description: String { message }
}
