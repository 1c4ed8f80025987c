package import Calls
import Model
package import Storage

/// Runs call commands: one transaction each, then its effects outside the store.
package struct CallService: Sendable {
    package let store: Store
    package let commands: CallCommands
    private let performer: any CallEffectPerformer

    package init(store: Store, commands: CallCommands, performer: any CallEffectPerformer) {
        self.store = store
        self.commands = commands
        self.performer = performer
    }

    /// Runs a command that changes a call, and performs its effects in the order of the commits, before the response is
    /// sent, so that an earlier command never sets a timer after a later one has stopped it.
    package func run(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome
    ) async throws -> Committed<CallOutcome> {
        let commands = commands
        return try await store.write { transaction in
            try command(transaction, commands)
        } committed: { [performer] outcome in
            performer.perform(outcome.effects)
        }
    }

    /// Records an event from outside the store, which may change nothing.
    package func note(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome?
    ) async throws {
        let commands = commands
        _ = try await store.write { transaction in
            try command(transaction, commands)
        } committed: { [performer] outcome in
            performer.perform(outcome?.effects ?? [])
        }
    }

    /// Runs a command that writes nothing on a snapshot, without a commit.
    func observe(
        _ command: @escaping @Sendable (StoreTransaction, CallCommands) throws -> CallOutcome
    ) async throws -> CallOutcome {
        let commands = commands
        let outcome = try await store.read { try command($0, commands) }
        performer.perform(outcome.effects)
        return outcome
    }
}

/// Performs the effects of a committed call command. Called on the store's writer thread and others, so it must be
/// brief.
package protocol CallEffectPerformer: Sendable {
    func perform(_ effects: [CallEffect])
}
