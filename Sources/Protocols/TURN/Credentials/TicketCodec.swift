package import Wire

/// Encodes and decodes mobility tickets (RFC 8016): the worker and the allocation, and how often its ticket was
/// replaced.
///
///     | worker (8) | slot (32) | generation (32) | serial (32) |  code over these (88) |     in base64
///
/// The fields before the code are encrypted with a key stream derived from the code: a ticket is authenticated and
/// reveals nothing to others (section 3.1.2). All workers share the key, so that each can decode every ticket. A new
/// process accepts no old ticket, as it has no old allocation.
package struct TicketCodec: Sendable {
    struct Ticket: Hashable {
        let worker: UInt8
        let slot: UInt32
        let generation: UInt32
        let serial: UInt32
    }

    private static let contentByteCount = 13
    private static let codeByteCount = 11

    package let worker: UInt8
    private let key: Digest

    package init(key: Digest, worker: UInt8) {
        self.key = key
        self.worker = worker
    }

    func encode(
        slot: Int, generation: UInt32, serial: UInt32, _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        var content: [UInt8] = [worker]
        content.append(bigEndian: UInt32(truncatingIfNeeded: slot))
        content.append(bigEndian: generation)
        content.append(bigEndian: serial)
        guard let code = code(1, content, authentication),
            let mask = code.isEmpty ? nil : self.mask(code, authentication)
        else { return nil }
        let ticket = zip(content, mask).map { $0 ^ $1 } + code
        return Base64.encode(ticket.span.bytes)
    }

    func decode(_ text: RawSpan, _ authentication: some MessageAuthentication) -> Ticket? {
        guard text.byteCount == (Self.contentByteCount + Self.codeByteCount) / 3 * 4, let bytes = Base64.decode(text),
            bytes.count == Self.contentByteCount + Self.codeByteCount
        else { return nil }
        let given = Array(bytes.suffix(Self.codeByteCount))
        guard let mask = mask(given, authentication) else { return nil }
        let content = zip(bytes, mask).map { $0 ^ $1 }
        guard let code = code(1, content, authentication), code.span.bytes.equalsInConstantTime(given.span.bytes)
        else { return nil }
        let parts = content.span.bytes
        guard let worker = parts.byte(at: 0), let slot = parts.integer(at: 1, as: UInt32.self),
            let generation = parts.integer(at: 5, as: UInt32.self), let serial = parts.integer(at: 9, as: UInt32.self)
        else { return nil }
        return Ticket(worker: worker, slot: slot, generation: generation, serial: serial)
    }

    private func mask(_ code: [UInt8], _ authentication: some MessageAuthentication) -> [UInt8]? {
        digest(2, code, authentication).map { Array($0.prefix(Self.contentByteCount)) }
    }

    private func code(
        _ purpose: UInt8, _ content: [UInt8], _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        digest(purpose, content, authentication).map { Array($0.prefix(Self.codeByteCount)) }
    }

    private func digest(
        _ purpose: UInt8, _ content: [UInt8], _ authentication: some MessageAuthentication
    ) -> [UInt8]? {
        let message = [purpose] + content
        return key.withBytes { authentication.code(.sha256, key: $0, message.span.bytes) }?.copyToArray()
    }
}
