// Drawing once for all changes of a frame. A page that is hidden gets no frames, and draws all the same.

/** A function that asks for `draw` in the next frame; its `cancel` forgets that. */
export function onceAFrame(draw) {
    let frame;
    let timer;
    const run = () => {
        schedule.cancel();
        draw();
    };
    const schedule = () => {
        if (frame !== undefined || timer !== undefined) return;
        if (document.hidden) timer = setTimeout(run);
        else {
            frame = requestAnimationFrame(run);
            // The page may be hidden before the frame comes.
            timer = setTimeout(run, 500);
        }
    };
    schedule.cancel = () => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
        frame = timer = undefined;
    };
    return schedule;
}
