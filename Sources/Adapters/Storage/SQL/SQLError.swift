package import Model

/// Why the database did not do what it was asked, in words that tell an operator what to do.
package struct SQLError: Error, Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// The directory or file cannot be written to, or not be opened at all.
        case unwritable
        /// Another process holds the database or its directory.
        case locked
        case diskFull
        /// The file is not a database or is damaged.
        case damaged
        /// A newer version of the program has migrated the database.
        case newer
        /// A UNIQUE, NOT NULL, CHECK or foreign key constraint refused a row.
        case constraint
        /// A row holds something else than the code expects.
        case unexpectedValue
        /// More writes wait than the queue may hold.
        case overloaded
        case closed
        /// A statement is wrong, or something happened that has no kind of its own.
        case failed
    }

    package var kind: Kind
    package var message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What a client is told: nothing of the server's insides, and whether it is worth trying again.
    package var problem: Problem {
        switch kind {
        case .locked, .overloaded, .closed, .diskFull:
            Problem(.unavailable, "The server's database is busy or out of order; try again.", retryAfter: 1000)
        case .unwritable, .damaged, .newer, .constraint, .unexpectedValue, .failed:
            Problem(.internalError, "The server's database refused the request.")
        }
    }
}

extension SQLError: CustomStringConvertible {
    package var description: String { message }
}
