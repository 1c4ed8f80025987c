import ArgumentParser
import Server

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Test the relay over every configured transport, and report what does not work.",
        discussion: """
            Two allocations are made, and packets relayed from one to the other and back, with credentials from the \
            configuration's secret, against the running server. On another machine, with a copy of the configuration, \
            --address tests it from outside. The exit code is 1 if something fails.
            """)

    @Option(help: "Only test this address, from another machine.")
    var address: String?

    @Option(help: "The host name that clients use, which the certificate must be valid for.")
    var name: String?

    @Option(help: "A PEM file of authorities to trust beside the system's.")
    var authorities: String?

    @Option(help: "A STUN server elsewhere, as address:port, to compare relay.externalAddress with.")
    var stun: String?

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.load()
        try await failing {
            var checkOptions = RelayCheck.Options()
            (checkOptions.address, checkOptions.name) = (address, name)
            (checkOptions.authorities, checkOptions.stun) = (authorities, stun)
            var check = try RelayCheck(configuration, checkOptions)
            guard await check.run(print: { print($0) }) else { throw ExitCode(1) }
        }
    }
}
