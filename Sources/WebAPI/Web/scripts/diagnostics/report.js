// The results as plain text, for support. Without credentials and addresses of this network.

import { lossText, meaning } from "./findings.js";

export function reportText({ summary, tests, environment }) {
    const network = navigator.connection?.effectiveType;
    const lines = ["Switchboard connection report", `Time: ${new Date().toISOString()}`, `Server: ${location.origin}`,
        `Browser: ${navigator.userAgent}`, ...(network ? [`Network: about as fast as ${network}`] : []), "",
        `Result: ${summary.title}`, ...summary.advice.map((one) => `  ${one}`), ""];
    for (const [name, { word, roundTrip, help }] of Object.entries(environment)) {
        lines.push(`${name}: ${[word, milliseconds(roundTrip), help].filter(Boolean).join("; ")}`);
    }
    for (const test of tests) lines.push("", ...testLines(test));
    return lines.join("\n");
}

function testLines(test) {
    const { server, result } = test;
    const { word, text, help } = meaning(test);
    const rows = facts(result).map(([name, value]) => `  ${name}: ${value}`);
    const errors = result.errors.map(({ code, text: reason }) => `  Error ${code}${reason ? `: ${reason}` : ""}`);
    return [`${server.label}, ${server.url}: ${word}`, `  ${text}`, ...(help ? [`  ${help}`] : []), ...rows, ...new Set(errors)];
}

/** The measured part of a result, as `[name, value]`. */
export function facts({ candidates, first, gathering, pings }) {
    const rows = [];
    const kinds = new Set(candidates.map(candidateText));
    if (kinds.size > 0) rows.push(["Candidates", [...kinds].join(", ")]);
    if (first !== undefined) rows.push(["First candidate after", milliseconds(first)]);
    if (gathering !== undefined) rows.push(["Gathering took", milliseconds(gathering)]);
    if (pings) {
        rows.push(["Round trip", pings.median === undefined ? "–" : `${milliseconds(pings.median)} (median of ${pings.received})`]);
        rows.push(["Lost", `${lossText(pings)} of ${pings.sent}`]);
    }
    return rows;
}

const types = { host: "host", srflx: "server-reflexive", prflx: "peer-reflexive", relay: "relay" };

function candidateText({ type, protocol, family, relayProtocol }) {
    return `${types[type] ?? type} ${protocol} ${family}${relayProtocol ? ` over ${relayProtocol}` : ""}`;
}

function milliseconds(value) {
    if (value === undefined) return undefined;
    return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}
