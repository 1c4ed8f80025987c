/// When a program that ended is started again: after half a second, then after twice as long each time, and not at all
/// after five ends in ten minutes.
struct RestartPolicy: Sendable {
    enum Admission: Hashable {
        case now
        case later(ContinuousClock.Instant)
        case off
    }

    var firstPause = Duration.milliseconds(500)
    var maxPause = Duration.seconds(60)
    var maxEnds = 5
    var window = Duration.seconds(600)
    /// Within the window.
    private var ends: [ContinuousClock.Instant] = []
    private(set) var isOff = false

    init() {}

    mutating func recordEnd(at now: ContinuousClock.Instant) {
        ends.removeAll { $0 + window <= now }
        ends.append(now)
        isOff = isOff || ends.count >= maxEnds
    }

    func admission(at now: ContinuousClock.Instant) -> Admission {
        if isOff { return .off }
        let recent = ends.filter { $0 + window > now }
        guard let last = recent.last else { return .now }
        let pause = (1..<recent.count).reduce(firstPause) { pause, _ in min(pause * 2, maxPause) }
        return last + pause <= now ? .now : .later(last + pause)
    }

    /// As after a reload.
    mutating func reset() {
        ends = []
        isOff = false
    }
}

/// What a program was given when it ended.
struct FatalRequests: Sendable {
    private static let maxCount = 1_000
    private var counts: [Int: Int] = [:]
    /// The oldest first.
    private var keys: [Int] = []

    func count(_ key: Int) -> Int { counts[key] ?? 0 }

    mutating func record(_ key: Int) {
        if counts[key] == nil {
            keys.append(key)
            if keys.count > Self.maxCount { counts[keys.removeFirst()] = nil }
        }
        counts[key, default: 0] += 1
    }
}
