import DatagramIO
import Synchronization
import Wire

@testable import switchboard_load

/// A way between legs and a server on the loopback that loses some of the RTP, by a seed: legs send to `address` instead of
/// the server's own. What sets a leg up always arrives.
final class LossyPath: Sendable {
    private static let frontTag = UInt64.max

    let address: TransportAddress
    private let isOver = Atomic<Bool>(false)
    private let lost = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameter loss: the share that is lost, each way.
    init(to server: TransportAddress, loss: Double, seed: UInt64) throws {
        let front = try DatagramSocket(
            TransportAddress(server.address, port: 0), .exclusive, receiveBuffer: 1 << 20)
        guard let address = front.address else { throw MediaFailure("a socket without an address") }
        self.address = address
        let descriptor = front.surrender()
        thread.withLock { thread in
            thread = WorkerThread.start("lossy-path") { [self] in
                run(DatagramSocket(adopting: descriptor), server, loss, SeededRandom(seed: seed))
            }
        }
    }

    var lostCount: Int { lost.load(ordering: .relaxed) }

    func stop() {
        isOver.store(true, ordering: .relaxed)
        thread.withLock { $0 }?.join()
    }

    /// Each client has a socket towards the server, as behind a NAT.
    private func run(
        _ front: consuming DatagramSocket, _ server: TransportAddress, _ loss: Double, _ seeded: SeededRandom
    ) {
        guard let queue = EventQueue(), queue.watch(front.descriptor, as: Self.frontTag) else { return }
        var chance = seeded
        var received = ReceiveBatch()
        var sending = SendBatch()
        var clients: [TransportAddress: Int32] = [:]
        var backs: [(socket: Int32, client: TransportAddress)] = []
        while !isOver.load(ordering: .relaxed) {
            for index in 0..<queue.wait(milliseconds: 5) {
                let tag = queue[index]
                let socket = tag == Self.frontTag ? front.descriptor : backs[Int(tag)].socket
                while true {
                    let slots = received.receive(from: socket, limit: ReceiveBatch.capacity)
                    for slot in slots {
                        let datagram = received.datagram(slot)
                        guard let source = received.source(of: slot), let first = datagram.first else { continue }
                        if (128...191).contains(first), !(192...223).contains(datagram.count > 1 ? datagram[1] : 0),
                            Double.random(in: 0..<1, using: &chance) < loss
                        {
                            lost.wrappingAdd(1, ordering: .relaxed)
                            continue
                        }
                        guard tag == Self.frontTag else {
                            sending.append(
                                UnsafeRawBufferPointer(datagram), from: front.descriptor, to: backs[Int(tag)].client)
                            continue
                        }
                        if clients[source] == nil {
                            guard
                                let back = try? DatagramSocket(TransportAddress(server.address, port: 0), .exclusive)
                                    .surrender(), queue.watch(back, as: UInt64(backs.count))
                            else { continue }
                            clients[source] = back
                            backs.append((back, source))
                        }
                        guard let back = clients[source] else { continue }
                        sending.append(UnsafeRawBufferPointer(datagram), from: back, to: server)
                    }
                    sending.flush()
                    received.reset()
                    if slots.count < ReceiveBatch.capacity { break }
                }
            }
        }
        for back in backs { _ = DatagramSocket(adopting: back.socket) }
    }
}
