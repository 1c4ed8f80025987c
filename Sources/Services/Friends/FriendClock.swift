package import Friends
package import Logging
import ServiceLifecycle
import Storage

/// Removes requests that have expired, and notifies both users. Lists leave them out before that.
package struct FriendClock: Service {
    private static let interval = Duration.seconds(10)

    private let friends: FriendCommands
    private let logger: Logger

    package init(friends: FriendCommands, logger: Logger) {
        self.friends = friends
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    while try await friends.expire() > 0, !Task.isCancelled {}
                } catch {
                    // A full disk is logged once, and not every few seconds.
                    if (error as? SQLError)?.kind != .diskFull {
                        logger.error("requests could not expire", metadata: ["error": "\(error)"])
                    }
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
