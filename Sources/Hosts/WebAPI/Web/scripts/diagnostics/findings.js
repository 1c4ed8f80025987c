// What came of the tests, in words that a person understands and that help.
//
// Error codes are those of RFC 8489 section 14.8 and RFC 8656 section 19; 701 is the browser's own (WebRTC section
// 4.8.3): the server was not reached.

const operator = "Send this report to whoever runs the server.";

/** What refusals of the server mean, and what helps. */
const refusals = {
    400: ["The relay did not understand the browser’s request.", operator],
    401: ["The relay does not accept the user name and password that this server handed out.",
        "Run the test again. If it stays, the relay and the server use different secrets (relay.secrets), or the clock of one of them is wrong."],
    403: ["The relay forbids what was asked of it.", "Whoever runs the server has to allow it (relay.peers.allow)."],
    437: ["The relay mixed this connection up with an older one.", "Wait a minute and run the test again."],
    438: ["The relay kept saying that the request was out of date.",
        "Something between here and the relay changes your address while you connect. Try another network."],
    440: ["The relay has no address of the kind that was asked for.", operator],
    441: ["The relay knows this connection by another user name.", "Sign out, sign in and run the test again."],
    442: ["The relay does not carry this protocol.", operator],
    486: ["You have too many relayed connections open already.",
        "Close other calls and tabs, wait some minutes and run the test again."],
    500: ["Something went wrong in the relay.", "Run the test again in a minute."],
    508: ["The relay is full.", "Try again later. Whoever runs the server can raise relay.limits or open more ports."],
    600: ["What answers there is not a relay.", "Another program may use this port. " + operator],
};

const silences = {
    stun: ({ place }) => ["The server does not answer over UDP.",
        `A firewall may block ${place}. Calls then need the relay.`],
    udp: ({ place }) => ["The relay does not answer over UDP.",
        `A firewall on this network may block ${place}. Where another way works, calls take that.`],
    tcp: ({ place }) => ["The relay does not answer over TCP.",
        `A firewall may block ${place}, the relay does not listen there, or its name is misspelt.`],
    tls: ({ place }) => ["No secure connection to the relay came about.",
        `Either nothing listens on ${place}, a firewall blocks it, or the browser does not trust the relay’s certificate. `
        + "On the server, “switchboard check” says which."],
    dtls: () => ["No secure connection to the relay came about over UDP.", "Browsers do without this way."],
};

/** What a finished test means: `{level, word, text, help}`, the level `good`, `unsure` or `bad`. */
export function meaning({ server, result }) {
    const good = (text) => ({ level: "good", word: "Works", text });
    const bad = ([text, help]) => ({ level: "bad", word: "Failed", text, help });
    switch (result.outcome) {
    case "works": return good(server.kind === "stun" ? "The server tells this browser how it is seen from outside." : worksText(result));
    case "quiet":
        return "onicecandidateerror" in RTCPeerConnection.prototype
            ? good("The server answers. This browser’s address is the same from outside.")
            : { level: "unsure", word: "Unclear", text: "No address from outside was found.",
                help: "Either this network does not translate addresses, or the server does not answer. This browser does not tell which." };
    case "unconnected":
        return bad(["The relay took the connection, but nothing came through it.",
            "The relay may not be allowed to reach its own address, or relay.externalAddress is wrong. " + operator]);
    case "unusable":
        return { level: "unsure", word: "Not tested", text: "This browser does not use servers of this kind.", help: result.errors[0]?.text };
    default: return bad(failure(server, result.errors));
    }
}

/** The error that tells most: what the server said, before not having reached it. */
function failure(server, errors) {
    const told = errors.find(({ code }) => code !== 701 && code !== 0);
    if (told) return refusals[told.code] ?? [`The relay refused with error ${told.code}${told.text ? ` (${told.text})` : ""}.`, operator];
    if (errors.some(isAboutName)) {
        return [`The name “${server.host}” is not known.`, "The server’s address is misspelt, or this network’s name service does not work."];
    }
    return (silences[server.kind] ?? silences.udp)(server);
}

const isAboutName = ({ text }) => /lookup|resolve/i.test(text);

function worksText({ pings }) {
    if (!pings) return "The relay takes connections. Nothing was sent through it: this device has several networks, and each takes one of the eight connections of a test.";
    if (pings.received === pings.sent) return "The relay carries data there and back.";
    return `The relay carries data, but ${lossText(pings)} got lost: calls may stutter.`;
}

export const lossText = ({ sent, received }) => `${Math.round(100 * (sent - received) / Math.max(1, sent))} %`;

/** How calls from this network will connect: `{level, title, advice}`, for all tests together. */
export function verdict(tests) {
    const works = (kind) => tests.find(({ server, result }) => server.kind === kind && result.outcome === "works");
    const judged = tests.map((test) => ({ ...test, ...meaning(test) }));
    const relays = judged.filter(({ server }) => server.kind !== "stun");
    const failed = relays.filter(({ level }) => level === "bad");
    const outside = judged.some(({ server, level }) => server.kind === "stun" && level === "good");
    if (tests.length === 0) {
        return { level: "unsure", title: "This server names no relay to test.", advice: [operator] };
    }
    if (works("udp")) {
        const advice = failed.map(({ server }) => `${server.label} (port ${server.port}) does not work. It is needed only where UDP is blocked.`);
        if (!outside) advice.unshift("STUN does not work, so more calls than usual take the relay.");
        const title = outside ? "Calls connect directly where they can, and else through the relay over UDP."
            : "Calls connect through the relay over UDP.";
        return { level: "good", title, advice };
    }
    const other = works("tcp") ?? works("tls");
    if (other) {
        const way = other.server.kind === "tls" ? "TLS" : "TCP";
        const reason = blocked(relays, outside);
        return { level: "unsure", title: `${reason}: calls will use ${way} on port ${other.server.port}.`,
            advice: ["Sound and picture may lag when the network is busy. Another network, or allowing UDP in the firewall, helps."] };
    }
    const cause = relays.find(({ result }) => result.errors.some((error) => refusals[error.code] || isAboutName(error)));
    const advice = cause ? [cause.text, cause.help] : ["A firewall on this network may block the relay. Try another network, such as a phone’s."];
    const title = outside ? "No relay works: calls connect only where both networks allow a direct way."
        : "Calls will not connect from this network.";
    return { level: "bad", title, advice: advice.filter(Boolean) };
}

/** Nobody knows who drops packets; that UDP alone gets no answer is a hint. */
function blocked(relays, outside) {
    const udp = relays.filter(({ server }) => server.kind === "udp");
    if (udp.length === 0) return "This server offers no relay over UDP";
    const unanswered = udp.every(({ result }) => ["silent", "refused"].includes(result.outcome)
        && result.errors.every(({ code }) => code === 701));
    return unanswered && !outside ? "UDP seems to be blocked on this network" : "The relay does not work over UDP";
}
