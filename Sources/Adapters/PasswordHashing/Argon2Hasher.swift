package import Accounts
internal import Foundation
internal import Model
internal import Synchronization

/// Hashes passwords with Argon2id on its own threads, and verifies those of Firebase, which are outdated.
///
/// While some account has a hash of Firebase, a wrong password costs an Argon2id and a scrypt, whatever is stored: how long
/// the response takes tells neither whether an account exists nor which kind of hash it has.
package final class Argon2Hasher: PasswordHasher {
    private let parameters: Argon2Parameters
    private let threads: HashingThreads
    /// One of the hashes of Firebase that are stored, if there are any.
    private let firebase = Mutex<FirebaseHash?>(nil)

    /// - Parameters:
    ///   - threads: hashes computed at once; each takes a core and the parameters' memory. Usually half of the cores, so
    ///     that calls go on while passwords are guessed, but no more than two.
    ///   - queueLimit: the maximum number of queued requests.
    package init(
        parameters: Argon2Parameters = .standard, threads: Int = Argon2Hasher.usualThreads, queueLimit: Int = 64
    ) {
        self.parameters = parameters
        self.threads = HashingThreads(count: threads, limit: queueLimit)
        self.threads.start()
    }

    package static var usualThreads: Int { min(2, max(1, ProcessInfo.processInfo.activeProcessorCount / 2)) }

    deinit { threads.stop() }

    package func hash(_ password: String) async throws -> String {
        let bytes = Self.bytes(of: password)
        return try await run { [parameters] in try Argon2.hash(bytes, parameters) }
    }

    package func expect(_ stored: String) {
        guard let hash = FirebaseHash(stored) else { return }
        firebase.withLock { $0 = hash }
    }

    package func verify(_ password: String, against stored: String?) async throws -> PasswordVerdict {
        if let stored, let hash = FirebaseHash(stored) { return try await verify(password, against: hash) }
        let bytes = Self.bytes(of: password)
        let other = firebase.withLock { $0 }
        return try await run { [parameters] in
            let isRight = try Argon2.matches(bytes, stored ?? Self.dummyHash(parameters))
            guard isRight, let stored else {
                if let other { _ = try FirebaseScrypt.matches(bytes, other) }
                return .wrong
            }
            return .right(isOutdated: !stored.hasPrefix(parameters.prefix))
        }
    }

    private func verify(_ password: String, against hash: FirebaseHash) async throws -> PasswordVerdict {
        firebase.withLock { $0 = hash }
        // Firebase does not normalize.
        let bytes = Array(password.utf8)
        return try await run { [parameters] in
            if try FirebaseScrypt.matches(bytes, hash) { return .right(isOutdated: true) }
            _ = try Argon2.matches(bytes, Self.dummyHash(parameters))
            return .wrong
        }
    }

    private func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let isQueued = threads.submit {
                do {
                    continuation.resume(returning: try work())
                } catch {
                    continuation.resume(
                        throwing: Problem(.unavailable, "The server is short of memory; try again.", retryAfter: 2000))
                }
            }
            if !isQueued {
                continuation.resume(
                    throwing: Problem(.unavailable, "Too many people are signing in; try again.", retryAfter: 1000))
            }
        }
    }

    /// A hash for accounts that do not exist. Its salt and hash are arbitrary: a comparison costs as much as with a
    /// real hash, and no known password matches.
    private static func dummyHash(_ parameters: Argon2Parameters) -> String {
        func base64(_ count: Int) -> String {
            Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }).base64EncodedString()
                .trimmingCharacters(in: ["="])
        }
        return parameters.prefix + base64(Argon2.saltLength) + "$" + base64(Argon2.hashLength)
    }

    /// The same password typed on two systems can differ in its bytes; NFC makes them equal (RFC 8265 section 4.2).
    private static func bytes(of password: String) -> [UInt8] {
        Array(password.precomposedStringWithCanonicalMapping.utf8)
    }
}
