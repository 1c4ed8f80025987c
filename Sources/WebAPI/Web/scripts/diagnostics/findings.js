// What the test results mean, and what to do about them, in plain English.
//
// Error codes are those of RFC 8489 section 14.8 and RFC 8656 section 19; 701 is the browser's own (WebRTC section
// 4.8.3): the server was not reached.

const operator = "Send this report to the server’s operator.";

/** What error responses of the server mean, and what helps. */
const errorCodes = {
    400: ["The relay did not understand the browser’s request.", operator],
    401: ["The relay does not accept the user name and password that this server issued.",
        "Run the test again. If the error persists, the relay and the server use different secrets (relay.secrets), or one of their clocks is wrong."],
    403: ["The relay does not allow this request.", "The server’s operator has to allow it (relay.peers.allow)."],
    437: ["The relay confused this connection with an older one.", "Wait a minute and run the test again."],
    438: ["The relay kept rejecting the request as out of date.",
        "Something between here and the relay changes your address while you connect. Try another network."],
    440: ["The relay has no address of the requested family.", operator],
    441: ["The relay has this connection under another user name.", "Sign out, sign in and run the test again."],
    442: ["The relay does not support this protocol.", operator],
    486: ["You have too many relayed connections open already.",
        "Close other calls and tabs, wait a few minutes and run the test again."],
    500: ["Something went wrong in the relay.", "Run the test again in a minute."],
    508: ["The relay is full.", "Try again later. The server’s operator can raise relay.limits or open more ports."],
    600: ["The server at this address is not a relay.", "Another program may use this port. " + operator],
};

const noResponse = {
    stun: ({ portName }) => ["The server does not respond over UDP.",
        `A firewall may block ${portName}. Calls then need the relay.`],
    udp: ({ portName }) => ["The relay does not respond over UDP.",
        `A firewall on this network may block ${portName}. Calls use another protocol if one works.`],
    tcp: ({ portName }) => ["The relay does not respond over TCP.",
        `A firewall may block ${portName}, the relay does not listen there, or its name is misspelt.`],
    tls: ({ portName }) => ["No secure connection to the relay could be made.",
        `Either nothing listens on ${portName}, a firewall blocks it, or the browser does not trust the relay’s certificate. `
        + "On the server, “switchboard check” says which."],
    dtls: () => ["No secure connection to the relay could be made over UDP.", "Browsers do not need it."],
};

/** What a finished test means: `{level, word, text, help}`, the level `good`, `unsure` or `bad`. */
export function meaning({ server, result }) {
    const good = (text) => ({ level: "good", word: "Works", text });
    const bad = ([text, help]) => ({ level: "bad", word: "Failed", text, help });
    switch (result.outcome) {
    case "works": return good(server.kind === "stun" ? "The server reports this browser’s public address." : worksText(result));
    case "quiet":
        return "onicecandidateerror" in RTCPeerConnection.prototype
            ? good("The server responds. This browser’s public address is its own.")
            : { level: "unsure", word: "Unclear", text: "No public address was found.",
                help: "Either this network does not translate addresses, or the server does not respond. This browser does not say which." };
    case "unconnected":
        return bad(["The relay accepted the connection, but nothing came through it.",
            "The relay may not be allowed to reach its own address, or relay.externalAddress is wrong. " + operator]);
    case "unusable":
        return { level: "unsure", word: "Not tested", text: "This browser does not use servers of this kind.", help: result.errors[0]?.text };
    default: return bad(failure(server, result.errors));
    }
}

/** The most specific error: the server's own, before those of not having reached it. */
function failure(server, errors) {
    const reported = errors.find(({ code }) => code !== 701 && code !== 0);
    if (reported) return errorCodes[reported.code] ?? [`The relay rejected the request with error ${reported.code}${reported.text ? ` (${reported.text})` : ""}.`, operator];
    if (errors.some(isAboutName)) {
        return [`The name “${server.host}” is not known.`, "The server’s address is misspelt, or this network’s DNS does not work."];
    }
    return (noResponse[server.kind] ?? noResponse.udp)(server);
}

const isAboutName = ({ text }) => /lookup|resolve/i.test(text);

function worksText({ pings }) {
    if (!pings) return "The relay accepts connections. Nothing was sent through it: this device has several networks, and each uses one of the eight allocations of a test.";
    if (pings.received === pings.sent) return "The relay forwards data in both directions.";
    return `The relay forwards data, but ${lossText(pings)} was lost: calls may stutter.`;
}

export const lossText = ({ sent, received }) => `${Math.round(100 * (sent - received) / Math.max(1, sent))} %`;

/** How calls from this network will connect: `{level, title, advice}`, for all tests together. */
export function verdict(tests) {
    const works = (kind) => tests.find(({ server, result }) => server.kind === kind && result.outcome === "works");
    const judged = tests.map((test) => ({ ...test, ...meaning(test) }));
    const relays = judged.filter(({ server }) => server.kind !== "stun");
    const failed = relays.filter(({ level }) => level === "bad");
    const hasPublicAddress = judged.some(({ server, level }) => server.kind === "stun" && level === "good");
    if (tests.length === 0) {
        return { level: "unsure", title: "This server has no relay to test.", advice: [operator] };
    }
    if (works("udp")) {
        const advice = failed.map(({ server }) => `${server.label} (port ${server.port}) does not work. It is needed only where UDP is blocked.`);
        if (!hasPublicAddress) advice.unshift("STUN does not work, so more calls than usual use the relay.");
        const title = hasPublicAddress ? "Calls connect directly where they can, otherwise through the relay over UDP."
            : "Calls connect through the relay over UDP.";
        return { level: "good", title, advice };
    }
    const other = works("tcp") ?? works("tls");
    if (other) {
        const transport = other.server.kind === "tls" ? "TLS" : "TCP";
        const reason = blocked(relays, hasPublicAddress);
        return { level: "unsure", title: `${reason}: calls will use ${transport} on port ${other.server.port}.`,
            advice: ["Audio and video may lag when the network is busy. Another network, or allowing UDP in the firewall, helps."] };
    }
    const cause = relays.find(({ result }) => result.errors.some((error) => errorCodes[error.code] || isAboutName(error)));
    const advice = cause ? [cause.text, cause.help] : ["A firewall on this network may block the relay. Try another network, such as a phone’s."];
    const title = hasPublicAddress ? "No relay works: calls connect only where both networks allow direct connections."
        : "Calls will not connect from this network.";
    return { level: "bad", title, advice: advice.filter(Boolean) };
}

/** The cause of the loss is unknown; that only UDP gets no response is a hint. */
function blocked(relays, hasPublicAddress) {
    const udp = relays.filter(({ server }) => server.kind === "udp");
    if (udp.length === 0) return "This server offers no relay over UDP";
    const unanswered = udp.every(({ result }) => ["silent", "refused"].includes(result.outcome)
        && result.errors.every(({ code }) => code === 701));
    return unanswered && !hasPublicAddress ? "UDP seems to be blocked on this network" : "The relay does not work over UDP";
}
