// The REST client: one fetch with a timeout, problem documents as errors, and a refreshed token when one is needed.

import { credentials } from "./credentials.js";
import { endpoint } from "./identity.js";
import { Problem, networkProblem, timeoutProblem } from "./problems.js";

/** Sends a request with the signed-in user's token; an expired token is refreshed once. */
export async function authorized(method, path, body, options = {}) {
    const token = await credentials.fresh(exchange);
    try {
        return await send(method, path, body, { ...options, token });
    } catch (error) {
        if (error.status !== 401) throw error;
        const renewed = await credentials.fresh(exchange, { force: token === credentials.accessToken });
        return send(method, path, body, { ...options, token: renewed });
    }
}

/**
 * Sends one request; a body is JSON or a Blob. Returns the decoded body, or the text if `isText`; throws a `Problem`.
 */
export async function send(method, path, body, { token, timeout = 10_000, isText = false } = {}) {
    const headers = { Accept: isText ? "text/*" : "application/json" };
    const isFile = body instanceof Blob;
    if (body !== undefined) headers["Content-Type"] = isFile ? body.type : "application/json";
    if (token) {
        headers.Authorization = `Bearer ${token}`;
        headers["Switchboard-Endpoint"] = endpoint.header;
    }
    let response;
    let text;
    try {
        const options = { method, headers, signal: AbortSignal.timeout(timeout), cache: "no-store" };
        response = await fetch(path, body === undefined ? options : { ...options, body: isFile ? body : JSON.stringify(body) });
        text = await response.text();
    } catch (error) {
        throw error.name === "TimeoutError" ? timeoutProblem() : networkProblem();
    }
    if (isText && response.ok) return text;
    const value = decode(text);
    if (!response.ok) throw new Problem({ status: response.status, type: typeOf(response.status), ...value });
    return value;
}

export function exchange(refreshToken) {
    return send("POST", "/v1/sessions/refresh", { refreshToken });
}

export const serverInfo = () => send("GET", "/v1/server");
export const signUp = (form) => send("POST", "/v1/accounts", { ...form, device: device() });
export const signIn = (form) => send("POST", "/v1/sessions", { ...form, device: device() });

function device() {
    const agent = navigator.userAgent;
    const browser = [["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"],
        ["Safari/", "Safari"]].find(([token]) => agent.includes(token))?.[1] ?? "Browser";
    const system = [["Android", "Android"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Mac OS", "Mac"],
        ["Windows", "Windows"], ["CrOS", "ChromeOS"], ["Linux", "Linux"]].find(([token]) => agent.includes(token))?.[1];
    return { name: system ? `${browser} on ${system}` : browser, platform: "web" };
}

function decode(text) {
    try { return JSON.parse(text); } catch { return {}; }
}

function typeOf(status) {
    return { 401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 429: "rate_limited",
        503: "unavailable" }[status] ?? (status >= 500 ? "internal" : "invalid_request");
}
