/// How loud it is where nobody speaks: the quietest frame of the last four to five seconds, since nobody speaks that long
/// without a gap between two sounds.
///
/// For the first second little is known, so that it is taken for quiet: rather noise is let through than the first word
/// kept back. The gaps of pure silence in sound that is coded discontinuously count as quiet, too: the noise that comes
/// with the voice is then let through with it.
struct NoiseFloor {
    private static let framesEach = 50
    private static let spansKept = 4
    private var spans: [Double] = []
    private var current = 0.0
    private var count = 0

    private(set) var level = -96.0

    mutating func take(_ level: Double) {
        current = count == 0 ? level : min(current, level)
        count += 1
        if count == Self.framesEach {
            spans.append(current)
            if spans.count > Self.spansKept { spans.removeFirst() }
            count = 0
        }
        guard let quietest = spans.min() else { return }
        self.level = count == 0 ? quietest : min(quietest, current)
    }
}
