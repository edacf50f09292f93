// What is measured in the page: when something was painted, how long its tasks took, when the canvas drew. Runs before the page does.

/** Adds `globalThis.probe` to the page. */
export function addProbe() {
  const tasks = [];
  new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: "longtask" });
  const own = {
    /** Lines that the canvas of the page has drawn so far. */
    curves: 0,
    /** The longest task since a moment, in milliseconds; 0: none took over 50. */
    longestTask: (since) =>
      Math.max(
        0,
        ...tasks.filter(({ startTime }) => startTime >= since).map(({ duration }) => duration),
      ),
    /** Resolves after the next frame was painted. */
    painted: () =>
      new Promise((resolve) => {
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => resolve(performance.now());
          port2.postMessage(0);
        });
      }),
    /** Resolves when the document has not changed for so long; after ten seconds of changes in any case. */
    settled: (quietMs) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          clearTimeout(last);
          observer.disconnect();
          resolve();
        };
        const last = setTimeout(end, 10_000);
        let timer = setTimeout(end, quietMs);
        const observer = new MutationObserver(() => {
          clearTimeout(timer);
          timer = setTimeout(end, quietMs);
        });
        observer.observe(document, {
          subtree: true,
          childList: true,
          attributes: true,
          characterData: true,
        });
      }),
    /** Resolves after the first frame in which something holds. */
    async until(holds, tries = 6_000) {
      for (let frame = 0; frame < tries; frame += 1) {
        const at = await own.painted();
        if (holds()) return at;
      }
      throw new Error(`never came: ${holds}`);
    },
  };
  const { prototype } = CanvasRenderingContext2D;
  const { bezierCurveTo } = prototype;
  prototype.bezierCurveTo = function (...given) {
    if (this.canvas.className === "canvas-drawing") own.curves += 1;
    bezierCurveTo.apply(this, given);
  };
  globalThis.probe = own;
}
