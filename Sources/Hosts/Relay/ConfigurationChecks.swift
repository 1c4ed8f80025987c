import DatagramIO
import Wire

extension RelayConfiguration {
    func check() throws(RelayError) {
        guard minPort > 0, minPort <= maxPort else {
            throw RelayError(
                "relay.minPort (\(minPort)) must be at least 1 and at most relay.maxPort (\(maxPort)): "
                    + "change one of them")
        }
        guard !realm.isEmpty, realm.utf8.count <= 128 else {
            throw RelayError("relay.realm must have 1 to 128 bytes: usually the server's domain name")
        }
        for (name, password) in users where name.isEmpty || password.isEmpty || name.utf8.count > 500 {
            throw RelayError("relay.users: '\(name)' needs a name of 1 to 500 bytes and a password")
        }
        for secret in secrets where secret.utf8.count < 8 {
            throw RelayError("relay.secrets: a secret has only \(secret.utf8.count) bytes; use at least 8, better 32")
        }
        for (kid, key) in tokenKeys where kid.isEmpty || kid.utf8.count > 500 || key.count != 16 && key.count != 32 {
            throw RelayError("relay.oauthKeys: '\(kid)' needs an id of 1 to 500 bytes and a key of 16 or 32 bytes")
        }
        for family in [IPAddress.Family.ipv4, .ipv6] where alternates.count(where: { $0.address.family == family }) > 1
        {
            throw RelayError("relay.alternateServer has two addresses of one family: only one is allowed; remove one")
        }
        for external in externalAddresses where external.external.isUnspecified {
            throw RelayError("relay.externalAddress: peers cannot reach \(external.external); use a public address")
        }
        if let workers, !(1...256).contains(workers) {
            throw RelayError("relay.workers (\(workers)) must be 1 to 256")
        }
    }

    /// The addresses that a wildcard stands for: all of this machine's, of both families unless only one wildcard is
    /// listed.
    func localAddresses(_ own: [IPAddress]) -> [IPAddress] {
        guard !listen.isEmpty else { return own }
        let wildcards = listen.filter { $0.isUnspecified }.map { $0.family }
        let named = listen.filter { !$0.isUnspecified }
        return named + own.filter { wildcards.contains($0.family) && !named.contains($0) }
    }
}

extension RelayError {
    init(
        bindFailure failure: DatagramSocket.Failure, _ address: TransportAddress, _ transport: String, setting: String
    ) {
        let port = address.port
        let address = address.address
        if failure.isPortTaken {
            self.init(
                "\(setting): \(transport) port \(port) on \(address) is taken by another program; "
                    + "stop it, or set \(setting) to a free one",
                isPortTaken: true)
        } else if failure.isAddressUnknown {
            self.init(
                "relay.listen: \(address) is not an address of this machine; list one that is, or remove it",
                isAddressUnknown: true)
        } else if failure.isDescriptorShortage {
            self.init("the relay has no more file descriptors: raise the limit (ulimit -n)")
        } else {
            self.init("\(setting): cannot listen on \(transport) port \(port) of \(address): \(failure.description)")
        }
    }
}
