internal import CLinux

/// What one socket did not take, in its order, until it does.
///
/// A socket that is full takes more in a millisecond: what it refuses then is a frame for many, and lost for all of them.
/// So it is kept, up to a bound in bytes. Beyond that the oldest video goes first: sound and reports are small, and of
/// pictures the newest are of use.
final class UnsentDatagrams {
    struct Datagram {
        /// Nil for one that was given up.
        var bytes: UnsafeMutableRawPointer?
        let byteCount: Int
        let isVideo: Bool
        var name: sockaddr_in6
        let nameSize: UInt32
    }

    let socket: Int32
    private let byteLimit: Int
    private(set) var byteCount = 0
    private var datagrams: [Datagram] = []
    private var begin = 0
    /// Before it there is no video.
    private var firstVideo = 0

    init(_ socket: Int32, byteLimit: Int) {
        self.socket = socket
        self.byteLimit = byteLimit
    }

    deinit {
        for datagram in datagrams { datagram.bytes?.deallocate() }
    }

    var isEmpty: Bool { begin == datagrams.count }

    /// Keeps a copy behind the others. Returns how many were given up for it.
    func append(
        _ bytes: UnsafeRawBufferPointer, isVideo: Bool, name: sockaddr_in6, nameSize: UInt32
    ) -> Int {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 8)
        copy.copyMemory(from: bytes)
        datagrams.append(
            Datagram(
                bytes: copy.baseAddress, byteCount: bytes.count, isVideo: isVideo, name: name, nameSize: nameSize))
        byteCount &+= bytes.count
        var dropped = 0
        while byteCount > byteLimit, giveUpOldest() { dropped &+= 1 }
        return dropped
    }

    private func giveUpOldest() -> Bool {
        firstVideo = max(firstVideo, begin)
        while firstVideo < datagrams.count {
            let index = firstVideo
            firstVideo &+= 1
            if datagrams[index].isVideo, datagrams[index].bytes != nil {
                release(index)
                return true
            }
        }
        guard let index = (begin..<max(begin, datagrams.count)).first(where: { datagrams[$0].bytes != nil }) else {
            return false
        }
        release(index)
        return true
    }

    private func release(_ index: Int) {
        datagrams[index].bytes?.deallocate()
        datagrams[index].bytes = nil
        byteCount &-= datagrams[index].byteCount
    }

    /// Offers the oldest to `send`, which says what became of it, until it has to wait.
    func drain(_ send: (UnsafeMutableRawPointer, Int, inout sockaddr_in6, UInt32) -> Fate) {
        while begin < datagrams.count {
            let nameSize = datagrams[begin].nameSize
            if let bytes = datagrams[begin].bytes {
                if send(bytes, datagrams[begin].byteCount, &datagrams[begin].name, nameSize) == .waits { break }
                release(begin)
            }
            begin &+= 1
        }
        if begin == datagrams.count {
            datagrams = []
            (begin, firstVideo) = (0, 0)
        } else if begin >= 1_024 {
            datagrams.removeFirst(begin)
            firstVideo = max(0, firstVideo &- begin)
            begin = 0
        }
    }

    enum Fate {
        case gone
        case waits
    }
}
