// The results as plain text, for support. Without credentials and addresses of this network.

import { millisecondsText } from "../language/format.js";
import { t } from "../language/texts.js";
import { lossText, meaning } from "./findings.js";

export function reportText({ summary, tests, environment }) {
    const network = navigator.connection?.effectiveType;
    const lines = [t("connectionReport.title"), t("connectionReport.time", { time: new Date().toISOString() }), t("connectionReport.server", { address: location.origin }),
        t("connectionReport.browser", { name: navigator.userAgent }), ...(network ? [t("connectionReport.network", { name: network })] : []), "",
        t("connectionReport.result", { result: summary.title }), ...summary.advice.map((one) => `  ${one}`), ""];
    for (const [name, { word, roundTrip, help }] of Object.entries(environment)) {
        lines.push(`${t(`about.${name}`)}: ${[word, milliseconds(roundTrip), help].filter(Boolean).join("; ")}`);
    }
    for (const test of tests) lines.push("", ...testLines(test));
    return lines.join("\n");
}

function testLines(test) {
    const { server, result } = test;
    const { word, text, help } = meaning(test);
    const rows = facts(result).map(([name, value]) => `  ${name}: ${value}`);
    const errors = result.errors.map(({ code, text: reason }) => `  ${t("connectionReport.error", { code: String(code) })}${reason ? `: ${reason}` : ""}`);
    return [`${server.label}, ${server.url}: ${word}`, `  ${text}`, ...(help ? [`  ${help}`] : []), ...rows, ...new Set(errors)];
}

/** The measured part of a result, as `[name, value]`. */
export function facts({ candidates, first, gathering, pings }) {
    const rows = [];
    const kinds = new Set(candidates.map(candidateText));
    if (kinds.size > 0) rows.push([t("connectionReport.candidates"), [...kinds].join(", ")]);
    if (first !== undefined) rows.push([t("connectionReport.first"), milliseconds(first)]);
    if (gathering !== undefined) rows.push([t("connectionReport.gathering"), milliseconds(gathering)]);
    if (pings) {
        rows.push([t("connectionReport.roundTrip"), pings.median === undefined ? "–" : t("connectionReport.median", { time: milliseconds(pings.median), count: pings.received })]);
        rows.push([t("connectionReport.lost"), t("connectionReport.lossOf", { loss: lossText(pings), count: pings.sent })]);
    }
    return rows;
}

const types = ["host", "srflx", "prflx", "relay"];
/** Families of addresses; browsers may hide an address behind a name. */
const families = { IPv4: "IPv4", IPv6: "IPv6" };

function candidateText({ type, protocol, family, relayProtocol }) {
    const values = { type: types.includes(type) ? t(`candidateTypes.${type}`) : type, protocol, relay: relayProtocol,
        family: families[family] ?? t("connectionReport.hiddenAddress") };
    return relayProtocol ? t("connectionReport.relayed", values) : t("connectionReport.candidate", values);
}

function milliseconds(value) {
    if (value === undefined) return undefined;
    return millisecondsText(value, value < 10 ? 1 : 0);
}
