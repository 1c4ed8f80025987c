import DatagramIO
import OpenSSLCrypto
import RTP
import STUN
import Wire

/// Resources that the legs of one thread share: buffers, cryptography, counters and clocks.
final class MediaTools {
    private static let slotByteCount = 2048

    let authentication: OpenSSLAuthentication
    /// Output of the thread's handshakes, which is flushed after each step.
    let exchange = DTLSExchange()
    var received = ReceiveBatch(hasArrivals: true)
    var messages = MessageWriter()
    var reports = RTCPWriter()
    var lost: [UInt16] = []
    var random: SeededRandom
    var counters = MediaCounters()
    /// The wall clock at 0 of the monotonic clock.
    private let wallClockAtZero: UInt64
    private var batch = SendBatch()
    private let slots = SharedBuffer(byteCount: SendBatch.capacity * MediaTools.slotByteCount)

    /// Nil if OpenSSL has no memory or no randomness.
    init?() {
        guard let authentication = OpenSSLAuthentication(), let seed = OpenSSLRandom.integer() else { return nil }
        self.authentication = authentication
        random = SeededRandom(seed: seed)
        wallClockAtZero = SystemClock.unixNanoseconds() &- SystemClock.now().nanoseconds
    }

    func wallClock(at now: Instant) -> NTPTime { NTPTime(unixNanoseconds: wallClockAtZero &+ now.nanoseconds) }

    /// Converts wall clock time to the monotonic clock.
    func instant(wallClock: UInt64) -> Instant { Instant(nanoseconds: wallClock &- wallClockAtZero) }

    /// The buffer for the next datagram, which is sent by `send`.
    var nextBuffer: UnsafeMutableRawBufferPointer {
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

    /// Datagrams that the kernel did not accept.
    var dropped: UInt64 { batch.dropped }
}

/// Sends an agent's checks with the next batch.
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
