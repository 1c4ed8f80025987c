import Logging
import ServiceLifecycle
import Storage

/// Ends the refusal of writes once a full disk has room again, which a write tells every 5 seconds.
struct FreeSpaceWatch: Service {
    private static let interval = Duration.seconds(5)

    let database: SQLiteDatabase
    let logger: Logger

    func run() async {
        await cancelWhenGracefulShutdown {
            var wasFull = false
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                if Task.isCancelled { return }
                guard database.isDiskFull else {
                    wasFull = false
                    continue
                }
                if await database.probeFreeSpace() {
                    logger.notice("the disk of storage.path has room again: writes are accepted")
                } else if !wasFull {
                    wasFull = true
                    logger.error("the disk of storage.path is full: writes are refused until it has room")
                }
            }
        }
    }
}
