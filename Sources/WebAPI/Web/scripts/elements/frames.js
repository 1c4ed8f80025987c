// Drawing once for all changes of a frame. A page that is hidden gets no frames, and draws all the same.

/** So long a frame may take, in milliseconds: the page may be hidden before it comes. */
const MAX_FRAME_TIME = 500;

/** What is to be drawn, in the order in which that was asked for. */
const waiting = new Set();
let frame;
/** When the frame was asked for. */
let since;
let hiddenTimer;
let lateTimer;

/** A function that asks for `draw` in the next frame; its `cancel` forgets that. */
export function onceAFrame(draw) {
    const run = () => draw();
    const schedule = () => {
        waiting.add(run);
        begin();
    };
    schedule.cancel = () => { waiting.delete(run); };
    return schedule;
}

/** One frame for all. The timer that looks for a late one is left running over many. */
function begin() {
    if (document.hidden) hiddenTimer ??= setTimeout(drawAll);
    else if (frame === undefined) {
        frame = requestAnimationFrame(drawAll);
        since = performance.now();
        lateTimer ??= setTimeout(drawLate, MAX_FRAME_TIME);
    }
}

function drawLate() {
    lateTimer = undefined;
    if (frame === undefined) return;
    if (performance.now() - since >= MAX_FRAME_TIME) {
        cancelAnimationFrame(frame);
        drawAll();
    } else lateTimer = setTimeout(drawLate, MAX_FRAME_TIME);
}

function drawAll() {
    if (hiddenTimer !== undefined) clearTimeout(hiddenTimer);
    frame = hiddenTimer = undefined;
    // What one of them asks for comes with the next frame, and what one cancels does not come.
    for (const run of [...waiting]) {
        if (!waiting.delete(run)) continue;
        try { run(); } catch (error) { reportError(error); }
    }
}
