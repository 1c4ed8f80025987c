// Parses the URL of a STUN or TURN server (RFC 7064, RFC 7065).

import { t } from "../language/texts.js";

/**
 * `{url, kind, host, port, label, portName}`. The kind is `stun`, or the transport to the relay: `udp`, `tcp`, `tls`,
 * `dtls`. `portName` names the protocol and port as in a firewall rule.
 */
export function parseServerURL(url) {
    const [, scheme, host, port, transport] =
        /^(stuns?|turns?):(\[[^\]]*\]|[^:?]*)(?::(\d+))?(?:\?transport=(\w+))?/i.exec(url) ?? [];
    if (!scheme) return { url, kind: "unknown", host: url, port: 0, label: t("servers.unknown"), portName: url };
    const isSecure = /s$/i.test(scheme);
    const isTCP = (transport ?? (isSecure ? "tcp" : "udp")).toLowerCase() === "tcp";
    const kind = /^stun/i.test(scheme) ? "stun" : isSecure ? (isTCP ? "tls" : "dtls") : isTCP ? "tcp" : "udp";
    const number = Number(port ?? (isSecure ? 5349 : 3478));
    return { url, kind, host, port: number, label: t(`servers.${kind}`), portName: t("servers.port", { protocol: isTCP ? "TCP" : "UDP", port: String(number) }) };
}

/** Every URL of a list of `RTCIceServer`, each with its credentials. */
export function flattenServers(iceServers) {
    return iceServers.flatMap(({ urls, username, credential }) =>
        [urls].flat().map((url) => ({ ...parseServerURL(url), username, credential })));
}
