package import Calls
import Model
package import Storage

/// Runs call commands: one transaction each, then its effects outside the store.
package struct CallService: Sendable {
    package let store: Store
    package let commands: CallCommands
    let effects: CallEffects

    package init(store: Store, commands: CallCommands, effects: CallEffects) {
        self.store = store
        self.commands = commands
        self.effects = effects
    }

    /// Runs a command that changes a call, and applies its effects in the order of the commits, before the response is
    /// sent, so that an earlier command never sets a timer after a later one has stopped it.
    ///
    /// - Parameter committed: called after the commit, before the effects.
    package func run(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome,
        committed: @escaping @Sendable () -> Void = {}
    ) async throws -> Committed<CallOutcome> {
        let commands = commands
        return try await store.write { transaction in
            try command(transaction, commands)
        } committed: { [effects] outcome in
            committed()
            effects.apply(outcome.effects)
        }
    }

    /// Records an event from outside the store, which may change nothing.
    package func note(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome?
    ) async throws {
        let commands = commands
        _ = try await store.write { transaction in
            try command(transaction, commands)
        } committed: { [effects] outcome in
            effects.apply(outcome?.effects ?? [])
        }
    }

    /// Like `note`, for an event that may change several calls.
    func noteAll(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> [CallOutcome]
    ) async throws {
        let commands = commands
        _ = try await store.write { transaction in
            try command(transaction, commands)
        } committed: { [effects] outcomes in
            for outcome in outcomes { effects.apply(outcome.effects) }
        }
    }

    /// Runs a command that writes nothing on a snapshot, without a commit.
    package func observe(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome
    ) async throws -> CallOutcome {
        let commands = commands
        let outcome = try await store.read { try command($0, commands) }
        effects.apply(outcome.effects)
        return outcome
    }
}
