import ArgumentParser
import Server

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try the relay over every transport that is configured, and say in words what does not work.",
        discussion: """
            Two allocations are made and packets relayed from one to the other and back, with credentials from the \
            configuration's secret, against the running server. On another machine, with a copy of the configuration, \
            --address tries it from outside. Ends with 1 when something fails.
            """)

    @Option(help: "Try this address alone, from another machine.")
    var address: String?

    @Option(help: "The host name that clients are given, which the certificate must be for.")
    var name: String?

    @Option(help: "A PEM file of authorities to trust beside the system's.")
    var authorities: String?

    @Option(help: "A STUN server elsewhere, as address:port, to compare relay.externalAddress with.")
    var stun: String?

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.load()
        try await failing {
            var wishes = RelayCheck.Options()
            (wishes.address, wishes.name, wishes.authorities, wishes.stun) = (address, name, authorities, stun)
            var check = try RelayCheck(configuration, wishes)
            guard await check.run(print: { print($0) }) else { throw ExitCode(1) }
        }
    }
}
