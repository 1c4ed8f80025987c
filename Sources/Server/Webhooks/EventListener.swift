import Foundation
import Model
import Providers
import Storage
import Webhooks

/// `switchboard webhook listen`: reads events with a server key and posts them, signed, to an address that the server
/// cannot reach, such as a laptop's.
///
/// Each event is posted until it is received, in the order of the events, and the position moves on after that: nothing
/// is lost, and who keeps ids gets nothing twice.
package struct EventListener: Sendable {
    package struct Options: Sendable {
        /// Where the events are posted to.
        package var forward: String
        /// The server's address.
        package var server: String
        /// A server key with the scope `events`.
        package var key: String
        /// Signs the messages; nil for a new one, which is printed.
        package var secret: String?
        /// A file for the position; nil to keep it in memory.
        package var cursor: String?

        package init(forward: String, server: String, key: String, secret: String? = nil, cursor: String? = nil) {
            self.forward = forward
            self.server = server
            self.key = key
            self.secret = secret
            self.cursor = cursor
        }
    }

    private let forward: WebhookURL
    private let secret: WebhookSecret
    private let source: EventSource
    private let cursor: String?
    private let sender: WebhookSender
    private let print: @Sendable (String) -> Void

    /// Throws if an option is not valid.
    package init(_ options: Options, print: @escaping @Sendable (String) -> Void) throws(ConfigurationError) {
        guard let forward = WebhookURL(options.forward) else {
            throw ConfigurationError("--forward \(options.forward) is not an http or https URL.")
        }
        guard let server = WebAddress(options.server) else {
            throw ConfigurationError(
                "--server \(options.server) is not an http or https URL, such as https://calls.example.org.")
        }
        if let text = options.secret {
            guard let secret = WebhookSecret(text) else {
                throw ConfigurationError("--secret must be whsec_ and 24 to 64 bytes in Base64.")
            }
            self.secret = secret
        } else {
            secret = .generate()
        }
        self.forward = forward
        source = EventSource(server: "\(server)", key: options.key)
        cursor = options.cursor
        // The operator of this program names the address, which is mostly on loopback.
        sender = WebhookSender(.everything) { Timestamp.systemClock().milliseconds / 1_000 }
        self.print = print
    }

    /// Runs until it is cancelled, or the server refuses the key.
    package func run() async throws {
        var position = EventSource.Position.now
        if let cursor, let text = try? String(contentsOfFile: cursor, encoding: .utf8) {
            position = .after(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        print("Secret: \(secret.text)")
        var failures = 0
        var isListening = false
        var last = Timestamp.systemClock()
        while !Task.isCancelled {
            do throws(EventSource.Failure) {
                // The first response comes at once, so that the position is known from here on.
                let page = try await source.page(from: position, waits: isListening)
                if !isListening { print("Listening.") }
                (isListening, failures) = (true, 0)
                for event in page.events {
                    await post(event, readAt: .now)
                    last = event.timestamp ?? last
                }
                position = .after(page.next)
                try save(page.next)
            } catch {
                switch error {
                case .refused(let detail): throw ConfigurationError(detail)
                case .gone:
                    print("The position is no longer known: going on with what is kept since \(last).")
                    position = .since(last)
                case .unavailable(let detail, let retryAfter):
                    failures += 1
                    isListening = false
                    if failures == 1 { print("\(detail) Trying again.") }
                    try await Task.sleep(for: retryAfter ?? Self.delay(after: failures))
                }
            }
        }
    }

    private func save(_ position: String) throws(EventSource.Failure) {
        guard let cursor else { return }
        do {
            try (position + "\n").write(toFile: cursor, atomically: true, encoding: .utf8)
        } catch {
            throw .refused("--cursor \(cursor) cannot be written.")
        }
    }

    /// Posts until it is received. An event that expires is not posted later.
    private func post(_ event: EventSource.Event, readAt: ContinuousClock.Instant) async {
        let message = WebhookMessage(id: event.id, body: event.body, secrets: [secret.bytes])
        var failures = 0
        while !Task.isCancelled {
            if let remaining = event.remaining, ContinuousClock.now >= readAt + remaining {
                print("\(event.type)\t\(event.id)\texpired")
                return
            }
            let outcome: String
            do throws(ProviderFailure) {
                let response = try await sender.send(message, to: forward)
                outcome = "\(response.status)"
                if response.isSuccess {
                    print("\(event.type)\t\(event.id)\t\(outcome)")
                    return
                }
            } catch {
                outcome = "\(error)"
            }
            failures += 1
            if failures == 1 { print("\(event.type)\t\(event.id)\t\(outcome)\tTrying again.") }
            try? await Task.sleep(for: Self.delay(after: failures))
        }
    }

    /// 1, 2, 4, 8 and then 15 seconds.
    private static func delay(after failures: Int) -> Duration {
        .seconds(failures > 4 ? 15 : 1 << max(0, failures - 1))
    }
}
