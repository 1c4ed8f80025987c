import ArgumentParser
import Server

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Try everything that the configuration promises, and report what does not work and what to do.",
        discussion: """
            Run it beside the server, with the server's configuration. It tries HTTP and its certificate, a hello over \
            realtime, two legs in the media gateway with a packet from one to the other, the relay over every configured \
            transport, and the free space. Nothing of it is stored. --url tries the API through a proxy. On another \
            machine, with a copy of the configuration, --address tries the server from outside, without the gateway. \
            The exit code is 1 if something fails; warnings are no failures.
            """)

    @Option(help: "Where clients reach the API, such as https://calls.example.org, instead of http.host and http.port.")
    var url: String?

    @Option(help: "Only test this address, from another machine.")
    var address: String?

    @Option(help: "The host name that clients use, which the certificate must be valid for.")
    var name: String?

    @Option(help: "A PEM file of authorities to trust beside the system's.")
    var authorities: String?

    @Option(help: "A STUN server elsewhere, as address:port, to compare relay.externalAddress with.")
    var stun: String?

    @Flag(help: "Print one JSON document instead of lines.")
    var json = false

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let configuration = try options.load()
        try await failing {
            var checkOptions = ServerCheck.Options()
            (checkOptions.file, checkOptions.url, checkOptions.address) = (options.config, url, address)
            (checkOptions.name, checkOptions.authorities, checkOptions.stun) = (name, authorities, stun)
            let check = try ServerCheck(configuration, checkOptions)
            guard await check.run(isJSON: json, print: { print($0) }) else { throw ExitCode(1) }
        }
    }
}
