/// A push to one device.
package struct PushMessage: Hashable, Sendable {
    package var address: PushAddress
    /// JSON.
    package var payload: [UInt8]
    /// For how long the service keeps it while the device sleeps.
    package var secondsToLive: Int
    /// Whether the device is woken for it.
    package var isUrgent: Bool
    /// A later push of the same topic replaces this one while the service keeps it.
    package var topic: String

    package init(address: PushAddress, payload: [UInt8], secondsToLive: Int, isUrgent: Bool, topic: String) {
        self.address = address
        self.payload = payload
        self.secondsToLive = secondsToLive
        self.isUrgent = isUrgent
        self.topic = topic
    }
}

package protocol PushSender: Sendable {
    func send(_ message: PushMessage) async -> PushOutcome
}
