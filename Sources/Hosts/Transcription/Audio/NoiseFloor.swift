/// Estimates the level of background noise: the quietest frame of the last four to five seconds, since nobody speaks
/// that long without a gap between two sounds.
///
/// The first second counts as quiet, since little is known: passing noise is better than dropping the first word. The
/// pure silence in discontinuous transmission counts as quiet, too: the noise around a voice is then passed with it.
struct NoiseFloor {
    private static let framesPerWindow = 50
    private static let windowCount = 4
    private var windows: [Double] = []
    private var current = 0.0
    private var count = 0

    private(set) var level = -96.0

    mutating func update(_ level: Double) {
        current = count == 0 ? level : min(current, level)
        count += 1
        if count == Self.framesPerWindow {
            windows.append(current)
            if windows.count > Self.windowCount { windows.removeFirst() }
            count = 0
        }
        guard let quietest = windows.min() else { return }
        self.level = count == 0 ? quietest : min(quietest, current)
    }
}
