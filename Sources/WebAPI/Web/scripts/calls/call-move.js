// Moving a call that stands in a corner: by dragging it, or with the arrow keys on its handle.

const STEP = 40;
const MARGIN = 8;

/** Lets `node` be moved by `handle`, while `isMovable()`, within the window. The result puts it back where it was. */
export function movable(node, handle, isMovable) {
    let [x, y] = [0, 0];
    const move = (nextX, nextY) => {
        const { left, top, width, height } = node.getBoundingClientRect();
        const bounded = (wanted, now, from, size, room) => Math.max(now + MARGIN - from, Math.min(wanted, now + room - MARGIN - size - from));
        x = bounded(nextX, x, left, width, innerWidth);
        y = bounded(nextY, y, top, height, innerHeight);
        node.style.setProperty("--call-x", `${x}px`);
        node.style.setProperty("--call-y", `${y}px`);
    };
    handle.addEventListener("keydown", (event) => {
        const step = { ArrowUp: [0, -STEP], ArrowDown: [0, STEP], ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0] }[event.key];
        if (!step || !isMovable()) return;
        event.preventDefault();
        move(x + step[0], y + step[1]);
    });
    node.addEventListener("pointerdown", (event) => {
        if (!isMovable() || event.button !== 0 || event.target.closest("button") && event.target.closest("button") !== handle) return;
        const [fromX, fromY] = [event.clientX - x, event.clientY - y];
        const drag = (moved) => move(moved.clientX - fromX, moved.clientY - fromY);
        const end = () => {
            node.removeEventListener("pointermove", drag);
            node.removeEventListener("lostpointercapture", end);
        };
        node.setPointerCapture(event.pointerId);
        node.addEventListener("pointermove", drag);
        node.addEventListener("lostpointercapture", end);
    });
    const fit = () => { if (isMovable()) move(x, y); };
    addEventListener("resize", fit);
    return {
        reset() {
            [x, y] = [0, 0];
            node.style.removeProperty("--call-x");
            node.style.removeProperty("--call-y");
        },
        close: () => removeEventListener("resize", fit),
    };
}
