internal import CLinux

/// The datagrams that a full socket did not take, in order, until it does.
///
/// A full socket is writable again within a millisecond, while the rejected datagrams are often a frame for many
/// receivers. So they are queued, up to a limit in bytes. Beyond that the oldest video is dropped first: audio and RTCP
/// are small, and the newest video is the most useful.
final class UnsentDatagrams {
    struct Datagram {
        /// Nil for one that was dropped.
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
    /// No video before this index.
    private var firstVideo = 0

    init(_ socket: Int32, byteLimit: Int) {
        self.socket = socket
        self.byteLimit = byteLimit
    }

    deinit {
        for datagram in datagrams { datagram.bytes?.deallocate() }
    }

    var isEmpty: Bool { begin == datagrams.count }
    /// Datagrams that wait.
    var count: Int { datagrams[begin...].count { $0.bytes != nil } }

    /// Appends a copy. Returns how many datagrams were dropped for it.
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
        while byteCount > byteLimit, dropOldest() { dropped &+= 1 }
        return dropped
    }

    private func dropOldest() -> Bool {
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

    /// Passes the datagrams to `send`, the oldest first, until it would block.
    func drain(_ send: (UnsafeMutableRawPointer, Int, inout sockaddr_in6, UInt32) -> Outcome) {
        while begin < datagrams.count {
            let nameSize = datagrams[begin].nameSize
            if let bytes = datagrams[begin].bytes {
                if send(bytes, datagrams[begin].byteCount, &datagrams[begin].name, nameSize) == .wouldBlock { break }
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

    enum Outcome {
        case done
        case wouldBlock
    }
}
