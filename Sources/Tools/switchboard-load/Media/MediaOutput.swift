import DatagramIO
import OpenSSLCrypto
import RTP
import STUN
import Wire

/// What the legs of one thread share, one after the other: buffers, codes and the clock's last word.
final class MediaTools {
    private static let slotByteCount = 2048

    let authentication: OpenSSLAuthentication
    /// Every handshake of the thread writes into it, and it is emptied right behind.
    let exchange = DTLSExchange()
    var received = ReceiveBatch(hasArrivals: true)
    var messages = MessageWriter()
    var reports = RTCPWriter()
    var lost: [UInt16] = []
    var chance: SeededRandom
    var tally = MediaTally()
    /// The wall clock when the monotonic one was 0.
    private let wallClockAtZero: UInt64
    private var batch = SendBatch()
    private let slots = SharedBuffer(byteCount: SendBatch.capacity * MediaTools.slotByteCount)

    /// nil when OpenSSL has no memory or no randomness.
    init?() {
        guard let authentication = OpenSSLAuthentication(), let seed = OpenSSLRandom.integer() else { return nil }
        self.authentication = authentication
        chance = SeededRandom(seed: seed)
        wallClockAtZero = SystemClock.unixNanoseconds() &- SystemClock.now().nanoseconds
    }

    func wallClock(at now: Instant) -> NTPTime { NTPTime(unixNanoseconds: wallClockAtZero &+ now.nanoseconds) }

    /// A moment of the wall clock on the monotonic one.
    func instant(wallClock: UInt64) -> Instant { Instant(nanoseconds: wallClock &- wallClockAtZero) }

    /// Where the next datagram is to be written. It leaves with `send`, or never.
    var room: UnsafeMutableRawBufferPointer {
        if batch.count == SendBatch.capacity { batch.flush() }
        let start = batch.count * Self.slotByteCount
        return UnsafeMutableRawBufferPointer(rebasing: slots.bytes[start..<start + Self.slotByteCount])
    }

    func send(_ datagram: UnsafeMutableRawBufferPointer, from socket: Int32, to destination: TransportAddress) {
        batch.append(UnsafeRawBufferPointer(datagram), from: socket, to: destination)
    }

    func sendCopy(_ datagram: RawSpan, from socket: Int32, to destination: TransportAddress) {
        batch.appendCopy(datagram, from: socket, to: destination)
    }

    func flush() { if batch.count > 0 { batch.flush() } }

    /// Datagrams that this machine did not take.
    var dropped: UInt64 { batch.dropped }
}

/// Where an agent's checks go: into the next batch.
struct CheckOutbox: Outbox {
    let tools: MediaTools
    let socket: Int32

    func send(_ message: RawSpan, on flow: Flow) {
        tools.sendCopy(message, from: socket, to: flow.remote)
    }
}

extension UnsafeMutableRawBufferPointer {
    func upTo(_ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: prefix(count > 0 ? count : 0))
    }
}
