import DatagramIO
import Synchronization
import Wire

@testable import switchboard_load

/// A UDP proxy between legs and a server on the loopback that drops some RTP packets, by a seed. Legs send to `address`
/// instead of the server's. Packets of the setup are never dropped.
final class LossyPath: Sendable {
    private static let clientSocketTag = UInt64.max

    let address: TransportAddress
    private let isOver = Atomic<Bool>(false)
    private let lost = Atomic<Int>(0)
    private let thread = Mutex<WorkerThread?>(nil)

    /// - Parameter loss: the share of packets that is dropped in each direction.
    init(to server: TransportAddress, loss: Double, seed: UInt64) throws {
        let clientSocket = try DatagramSocket(
            TransportAddress(server.address, port: 0), .exclusive, receiveBuffer: 1 << 20)
        guard let address = clientSocket.address else { throw MediaFailure("a socket without an address") }
        self.address = address
        let descriptor = clientSocket.release()
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

    /// Each client has its own socket towards the server, as behind a NAT.
    private func run(
        _ clientSocket: consuming DatagramSocket, _ server: TransportAddress, _ loss: Double, _ seeded: SeededRandom
    ) {
        guard let queue = EventQueue(), queue.watch(clientSocket.descriptor, as: Self.clientSocketTag) else { return }
        var random = seeded
        var received = ReceiveBatch()
        var sending = SendBatch()
        var clients: [TransportAddress: Int32] = [:]
        var serverSockets: [(socket: Int32, client: TransportAddress)] = []
        while !isOver.load(ordering: .relaxed) {
            for index in 0..<queue.wait(milliseconds: 5) {
                let tag = queue[index]
                let socket = tag == Self.clientSocketTag ? clientSocket.descriptor : serverSockets[Int(tag)].socket
                while true {
                    let slots = received.receive(from: socket, limit: ReceiveBatch.capacity)
                    for slot in slots {
                        let datagram = received.datagram(slot)
                        guard let source = received.source(of: slot), let first = datagram.first else { continue }
                        if (128...191).contains(first), !(192...223).contains(datagram.count > 1 ? datagram[1] : 0),
                            Double.random(in: 0..<1, using: &random) < loss
                        {
                            lost.wrappingAdd(1, ordering: .relaxed)
                            continue
                        }
                        guard tag == Self.clientSocketTag else {
                            sending.append(
                                UnsafeRawBufferPointer(datagram), from: clientSocket.descriptor,
                                to: serverSockets[Int(tag)].client)
                            continue
                        }
                        if clients[source] == nil {
                            guard
                                let serverSocket = try? DatagramSocket(
                                    TransportAddress(server.address, port: 0), .exclusive
                                ).release(), queue.watch(serverSocket, as: UInt64(serverSockets.count))
                            else { continue }
                            clients[source] = serverSocket
                            serverSockets.append((serverSocket, source))
                        }
                        guard let serverSocket = clients[source] else { continue }
                        sending.append(UnsafeRawBufferPointer(datagram), from: serverSocket, to: server)
                    }
                    sending.flush()
                    received.reset()
                    if slots.count < ReceiveBatch.capacity { break }
                }
            }
        }
        for serverSocket in serverSockets { _ = DatagramSocket(adopting: serverSocket.socket) }
    }
}
