// Samples the connection's WebRTC statistics once a second.

/** `latest` is the last sample, `series` the last minute, `summary` the whole call. */
export class Statistics {
    series = [];
    latest;
    #before = new Map();
    #then = 0;
    #sums = { lost: 0, received: 0, jitter: 0, roundTrip: 0, samples: 0, relayed: false, sent: 0, receivedBytes: 0 };
    #startedAt = performance.now();

    /** Takes a sample of the connection's statistics. */
    async sample(connection) {
        const now = performance.now();
        const seconds = this.#then ? (now - this.#then) / 1000 : 0;
        this.#then = now;
        const reports = [...(await connection.getStats()).values()];
        const sample = { ...pathOf(reports), ...this.#flows(reports, seconds) };
        this.latest = sample;
        this.series.push(sample);
        if (this.series.length > 60) this.series.shift();
        this.#sum(sample);
        return sample;
    }

    /** The body of the quality report at the end of the call; undefined if it never connected. */
    get summary() {
        const { lost, received, jitter, roundTrip, samples, relayed, sent, receivedBytes } = this.#sums;
        if (samples === 0) return undefined;
        return {
            loss: lost + received > 0 ? clamp(lost / (lost + received), 0, 1) : 0,
            jitter: jitter / samples, roundTrip: roundTrip / samples, relayed,
            sent: Math.round(sent), received: Math.round(receivedBytes),
            seconds: Math.round((performance.now() - this.#startedAt) / 1000),
        };
    }

    #flows(reports, seconds) {
        const rate = (report, field) => this.#rate(report, field, seconds);
        const byID = new Map(reports.map((report) => [report.id, report]));
        const flows = { up: 0, down: 0, received: 0, lost: 0, jitter: 0, packets: 0, streams: new Map(), sent: [] };
        for (const report of reports) {
            if (report.type === "inbound-rtp") {
                flows.down += rate(report, "bytesReceived") * 8;
                flows.packets += this.#delta(report, "packetsReceived");
                flows.received += this.#delta(report, "packetsReceived");
                flows.lost += this.#delta(report, "packetsLost");
                if (report.kind === "audio") flows.jitter = (report.jitter ?? 0) * 1000;
                flows[`${report.kind}In`] = larger(flows[`${report.kind}In`], media(report, byID));
                flows.streams.set(report.trackIdentifier, this.#stream(report, rate(report, "bytesReceived") * 8));
            } else if (report.type === "outbound-rtp") {
                flows.up += rate(report, "bytesSent") * 8;
                flows[`${report.kind}Out`] = larger(flows[`${report.kind}Out`], media(report, byID));
            } else if (report.type === "remote-inbound-rtp") {
                flows.lossOut = Math.max(flows.lossOut ?? 0, report.fractionLost ?? 0);
                flows.sent.push({ loss: report.fractionLost ?? 0, jitter: (report.jitter ?? 0) * 1000 });
            }
        }
        flows.loss = flows.received + flows.lost > 0 ? clamp(flows.lost / (flows.received + flows.lost), 0, 1) : 0;
        this.#keep(reports);
        return flows;
    }

    #stream(report, rate) {
        return { received: this.#delta(report, "packetsReceived"), lost: this.#delta(report, "packetsLost"),
            jitter: (report.jitter ?? 0) * 1000, rate };
    }

    #delta(report, field) {
        const before = this.#before.get(report.id)?.[field] ?? 0;
        return Math.max(0, (report[field] ?? 0) - before);
    }

    #rate(report, field, seconds) {
        return seconds > 0 && this.#before.has(report.id) ? this.#delta(report, field) / seconds : 0;
    }

    #keep(reports) {
        this.#before = new Map(reports.filter((report) => report.type.endsWith("-rtp"))
            .map((report) => [report.id, report]));
    }

    #sum(sample) {
        if (!sample.local) return;
        const sums = this.#sums;
        sums.samples += 1;
        sums.lost += sample.lost;
        sums.received += sample.received;
        sums.jitter += sample.jitter;
        sums.roundTrip += sample.roundTrip ?? 0;
        sums.relayed = sample.relayed;
        sums.sent = sample.bytesSent;
        sums.receivedBytes = sample.bytesReceived;
    }
}

/** The quality of these received tracks: `{level, loss, jitter, rate}`, level 1 to 3; undefined if nothing was sent. */
export function qualityOf(sample, tracks) {
    const streams = tracks.map((track) => sample.streams.get(track)).filter((one) => one && one.received + one.lost > 0);
    if (streams.length === 0) return undefined;
    const sum = (field) => streams.reduce((total, one) => total + one[field], 0);
    const loss = sum("lost") / (sum("lost") + sum("received"));
    return graded({ loss, jitter: Math.max(...streams.map((one) => one.jitter)), rate: sum("rate") });
}

/** The quality of the local media at the receiver. */
export function ownQuality(sample) {
    if (sample.sent.length === 0 || sample.up === 0) return undefined;
    const worst = (field) => Math.max(...sample.sent.map((one) => one[field]));
    return graded({ loss: worst("loss"), jitter: worst("jitter"), rate: sample.up });
}

function graded(quality) {
    const { loss, jitter } = quality;
    const level = loss > 0.08 || jitter > 120 ? 1 : loss > 0.025 || jitter > 60 ? 2 : 3;
    return { level, ...quality };
}

/** The selected candidate pair. */
function pathOf(reports) {
    const byID = new Map(reports.map((report) => [report.id, report]));
    const transport = reports.find((report) => report.type === "transport" && report.selectedCandidatePairId);
    const pair = byID.get(transport?.selectedCandidatePairId)
        ?? reports.find((report) => report.type === "candidate-pair" && report.nominated && report.state === "succeeded");
    if (!pair) return { relayed: false };
    const local = byID.get(pair.localCandidateId);
    const remote = byID.get(pair.remoteCandidateId);
    return {
        local: local?.candidateType, remote: remote?.candidateType,
        protocol: local?.protocol, relayProtocol: local?.relayProtocol,
        address: local?.address, remoteAddress: remote?.address,
        relayed: local?.candidateType === "relay" || remote?.candidateType === "relay",
        roundTrip: pair.currentRoundTripTime === undefined ? undefined : pair.currentRoundTripTime * 1000,
        bytesSent: pair.bytesSent ?? 0, bytesReceived: pair.bytesReceived ?? 0,
        available: pair.availableOutgoingBitrate,
    };
}

function media(report, byID) {
    const codec = byID.get(report.codecId)?.mimeType?.split("/")[1];
    return { codec, width: report.frameWidth, height: report.frameHeight, rate: report.framesPerSecond };
}

/** Of several videos, the largest one with a frame rate. */
function larger(one, other) {
    const weight = (picture) => (picture?.width ?? 0) * (picture?.rate ? 1_000 : 1);
    return one && weight(one) >= weight(other) ? one : other;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
