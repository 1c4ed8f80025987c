import DatagramIO
import ICE
import Wire

// Sockets that come and go with the addresses of the machine.

extension GatewayWorker {
    mutating func listen(on opened: [AddressSockets], closing closed: Set<IPAddress>) {
        if !closed.isEmpty { close(closed) }
        for sockets in opened {
            add(sockets.datagrams)
            add(sockets.streams)
        }
    }

    private mutating func add(_ socket: DatagramSocketOwner) {
        let index = sockets.firstIndex { $0 == nil } ?? sockets.count
        guard queue.watch(socket.descriptor, as: GatewayEventTag.datagrams(index).bits) else { return }
        if index == sockets.count {
            sockets.append(nil)
            awaitsWritable.append(false)
        }
        sockets[index] = socket
        sender.add(GatewayListener(descriptor: socket.descriptor, address: socket.address))
    }

    private mutating func add(_ listener: StreamListenerOwner) {
        let index = sender.connections.add(listener)
        guard queue.watch(listener.descriptor, as: GatewayEventTag.listener(index).bits) else {
            sender.connections.removeListener(at: index)
            return
        }
    }

    /// The paths at these addresses end. Legs that have others go on; the others have the time that a client has to be
    /// heard again, in which it may restart ICE.
    private mutating func close(_ addresses: Set<IPAddress>) {
        finish()
        for connection in Array(sender.connections.byNumber.values)
        where addresses.contains(connection.flow.local.address) {
            close(connection)
        }
        for (flow, leg) in flows where addresses.contains(flow.local.address) {
            flows[flow] = nil
            leg.agent.forget(flow)
            updatePath(leg)
        }
        for index in sockets.indices {
            guard let socket = sockets[index], addresses.contains(socket.address.address) else { continue }
            queue.forget(socket.descriptor)
            sender.removeListener(socket.descriptor)
            sockets[index] = nil
            awaitsWritable[index] = false
        }
        for (index, listener) in sender.connections.listeners.enumerated() {
            guard let listener, addresses.contains(listener.address.address) else { continue }
            queue.forget(listener.descriptor)
            sender.connections.removeListener(at: index)
        }
    }
}
