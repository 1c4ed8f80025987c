// Keeps a user's stream, across cuts. For browsers, and Node.js from 22 on; needs SERVER and TOKEN.
const { SERVER = "http://127.0.0.1:8080", TOKEN } = globalThis.process?.env ?? globalThis;
// docs:begin
const endpoint = { endpoint: crypto.randomUUID(), secret: crypto.randomUUID() };
const positions = {}; // of the last change that was applied, by stream

/** Applies a snapshot or the changes that are new; frames that are not known are ignored. */
function apply({ stream, reset, snapshot, epoch, seq, changes = [] }) {
    if (reset) {
        delete positions[stream];
        console.log("reset", reset.reason);
    } else if (snapshot) {
        if (epoch) positions[stream] = [epoch, seq];
        console.log("snapshot", stream.split(":")[0]);
    }
    for (const change of changes) {
        if (change.seq <= positions[stream][1]) continue;
        positions[stream][1] = change.seq;
        console.log("change", change.type);
    }
}

function connect() {
    const socket = new WebSocket(`${SERVER.replace("http", "ws")}/v1/realtime`);
    const send = (frame) => socket.send(JSON.stringify(frame));
    let silence;
    socket.onopen = () => send({ id: 1, hello: { token: TOKEN, ...endpoint, resume: positions } });
    socket.onmessage = ({ data }) => {
        clearTimeout(silence);
        silence = setTimeout(() => socket.close(), 45_000);
        const frame = JSON.parse(data);
        const user = frame.id === 1 && frame.result?.user;
        if (user && !positions[`user:${user}`]) send({ id: 2, listen: { stream: `user:${user}` } });
        if (frame.heartbeat) send({ heartbeat: {} });
        apply(frame);
    };
    socket.onclose = () => {
        console.log("cut");
        setTimeout(connect, 500 + 1500 * Math.random());
    };
}

connect();
// docs:end
