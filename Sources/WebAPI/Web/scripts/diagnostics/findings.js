// What the test results mean, and what to do about them.
//
// Error codes are those of RFC 8489 section 14.8 and RFC 8656 section 19; 701 is the browser's own (WebRTC section
// 4.8.3): the server was not reached.

import { t } from "../language/texts.js";

/** Error responses of the server whose meaning, and what helps, is known. */
const errorCodes = [400, 401, 403, 437, 438, 440, 441, 442, 486, 500, 508, 600];

/** Kinds of servers, and what it means that one does not respond. */
const kinds = ["stun", "udp", "tcp", "tls", "dtls"];

/** What a finished test means: `{level, word, text, help}`, the level `good`, `unsure` or `bad`. */
export function meaning({ server, result }) {
    const good = (text) => ({ level: "good", word: t("findings.works"), text });
    const bad = ([text, help]) => ({ level: "bad", word: t("findings.failedWord"), text, help });
    switch (result.outcome) {
    case "works": return good(server.kind === "stun" ? t("findings.stunWorks") : worksText(result));
    case "quiet":
        return "onicecandidateerror" in RTCPeerConnection.prototype
            ? good(t("findings.ownAddress"))
            : { level: "unsure", word: t("findings.unclear"), text: t("findings.noAddress"),
                help: t("findings.noAddressHelp") };
    case "unconnected":
        return bad([t("findings.unconnected"),
            t("findings.unconnectedHelp")]);
    case "unusable":
        return { level: "unsure", word: t("findings.notTested"), text: t("findings.unusable"), help: result.errors[0]?.text };
    default: return bad(failure(server, result.errors));
    }
}

/** The most specific error: the server's own, before those of not having reached it. */
function failure(server, errors) {
    const reported = errors.find(({ code }) => code !== 701 && code !== 0);
    if (reported && errorCodes.includes(reported.code)) return errorTexts(reported.code);
    if (reported) {
        const code = String(reported.code);
        return [reported.text ? t("findings.rejectedWith", { code, reason: reported.text }) : t("findings.rejected", { code }), t("findings.operator")];
    }
    if (errors.some(isAboutName)) {
        return [t("findings.unknownName", { name: server.host }), t("findings.nameHelp")];
    }
    const kind = kinds.includes(server.kind) ? server.kind : "udp";
    return [t(`noResponse.${kind}`), t(`noResponseHelp.${kind}`, { port: server.portName })];
}

const errorTexts = (code) => [t(`relayErrors.${code}`), t(`relayHelp.${code}`)];

const isAboutName = ({ text }) => /lookup|resolve/i.test(text);

function worksText({ pings }) {
    if (!pings) return t("findings.relayAccepts");
    if (pings.received === pings.sent) return t("findings.relayWorks");
    return t("findings.relayLoses", { loss: lossText(pings) });
}

export const lossText = ({ sent, received }) => t("findings.percent", { rate: Math.round(100 * (sent - received) / Math.max(1, sent)) });

/** How calls from this network will connect: `{level, title, advice}`, for all tests together. */
export function verdict(tests) {
    const works = (kind) => tests.find(({ server, result }) => server.kind === kind && result.outcome === "works");
    const judged = tests.map((test) => ({ ...test, ...meaning(test) }));
    const relays = judged.filter(({ server }) => server.kind !== "stun");
    const failed = relays.filter(({ level }) => level === "bad");
    const hasPublicAddress = judged.some(({ server, level }) => server.kind === "stun" && level === "good");
    if (tests.length === 0) {
        return { level: "unsure", title: t("findings.noRelay"), advice: [t("findings.operator")] };
    }
    if (works("udp")) {
        const advice = failed.map(({ server }) => t("findings.notNeeded", { name: server.label, port: String(server.port) }));
        if (!hasPublicAddress) advice.unshift(t("findings.noSTUN"));
        const title = hasPublicAddress ? t("findings.direct")
            : t("findings.relayOverUDP");
        return { level: "good", title, advice };
    }
    const other = works("tcp") ?? works("tls");
    if (other) {
        const transport = other.server.kind === "tls" ? "TLS" : "TCP";
        const values = { protocol: transport, port: String(other.server.port) };
        return { level: "unsure", title: t(`withoutUDP.${blocked(relays, hasPublicAddress)}`, values),
            advice: [t("findings.mayLag")] };
    }
    const cause = relays.find(({ result }) => result.errors.some((error) => errorCodes.includes(error.code) || isAboutName(error)));
    const advice = cause ? [cause.text, cause.help] : [t("findings.firewall")];
    const title = hasPublicAddress ? t("findings.onlyDirect")
        : t("findings.noCalls");
    return { level: "bad", title, advice: advice.filter(Boolean) };
}

/** The cause of the loss is unknown; that only UDP gets no response is a hint. */
function blocked(relays, hasPublicAddress) {
    const udp = relays.filter(({ server }) => server.kind === "udp");
    if (udp.length === 0) return "none";
    const unanswered = udp.every(({ result }) => ["silent", "refused"].includes(result.outcome)
        && result.errors.every(({ code }) => code === 701));
    return unanswered && !hasPublicAddress ? "blocked" : "broken";
}
