/** The laws of the camera. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Camera,
  clamped,
  fitted,
  opened,
  panned,
  revealed,
  seenBy,
  toScreen,
  toWorld,
  zoomed,
} from "../../src/page/canvas/camera.ts";

const number = (min: number, max: number): fc.Arbitrary<number> =>
  fc.double({ min, max, noNaN: true });
const point = fc.tuple(number(-5_000, 5_000), number(-5_000, 5_000));
const camera: fc.Arbitrary<Camera> = fc.record({
  x: number(-50_000, 50_000),
  y: number(-50_000, 50_000),
  zoom: number(0.01, 3),
});
const view = fc.record({ width: number(50, 4_000), height: number(50, 4_000) });
const picture = fc.record({ width: number(1, 100_000), height: number(1, 100_000) });

const near = ([x, y]: readonly [number, number], [a, b]: readonly [number, number]): void => {
  expect(x).toBeCloseTo(a, 4);
  expect(y).toBeCloseTo(b, 4);
};

describe("the camera", () => {
  test("a point of the screen is found again through the world", () => {
    fc.assert(
      fc.property(camera, point, (at, screen) => near(toScreen(at, toWorld(at, screen)), screen)),
    );
  });

  test("zooming leaves the point below the pointer where it is", () => {
    fc.assert(
      fc.property(camera, number(0.2, 5), point, (at, factor, about) => {
        near(toScreen(zoomed(at, factor, about), toWorld(at, about)), about);
      }),
    );
  });

  test("panning moves every point of the picture by the same way", () => {
    fc.assert(
      fc.property(camera, point, point, (at, [dx, dy], screen) => {
        const moved = toScreen(panned(at, dx, dy), toWorld(at, screen));
        near(moved, [screen[0] + dx, screen[1] + dy]);
      }),
    );
  });

  test("a fitted picture is whole, in the middle, and not larger than it is", () => {
    fc.assert(
      fc.property(picture, view, (whole, size) => {
        const at = fitted(whole, size);
        const [left, top] = toScreen(at, [0, 0]);
        const [right, bottom] = toScreen(at, [whole.width, whole.height]);
        expect(Math.min(left, top)).toBeGreaterThan(-0.01);
        expect(right).toBeLessThan(size.width + 0.01);
        expect(bottom).toBeLessThan(size.height + 0.01);
        near([left, top], [size.width - right, size.height - bottom]);
        expect(at.zoom).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("a picture that is too large to read opens at its beginning", () => {
    const at = opened({ width: 1_000, height: 100_000 }, { width: 800, height: 600 });
    expect(at.zoom).toBeGreaterThan(0.3);
    const [left, top] = toScreen(at, [0, 0]);
    const [right] = toScreen(at, [1_000, 0]);
    expect(top).toBeGreaterThan(0);
    expect(left).toBeCloseTo(800 - right, 4);
  });

  test("a part of the picture stays in the view, and a camera that shows one stays as it is", () => {
    fc.assert(
      fc.property(camera, picture, view, (at, whole, size) => {
        const kept = clamped(at, whole, size);
        const seen = seenBy(kept, size);
        expect(seen.x).toBeLessThan(whole.width);
        expect(seen.y).toBeLessThan(whole.height);
        expect(seen.x + seen.w).toBeGreaterThan(0);
        expect(seen.y + seen.h).toBeGreaterThan(0);
        const again = clamped(kept, whole, size);
        near([again.x, again.y], [kept.x, kept.y]);
      }),
    );
  });

  test("a box that is revealed is in the view, or its corner is when it is larger", () => {
    const box = fc.record({
      x: number(-9_000, 9_000),
      y: number(-9_000, 9_000),
      w: number(1, 2_000),
      h: number(1, 2_000),
    });
    fc.assert(
      fc.property(camera, box, view, (at, target, size) => {
        const seen = seenBy(revealed(at, target, size), size);
        const slack = 0.001;
        expect(target.x).toBeGreaterThanOrEqual(seen.x - slack);
        expect(target.y).toBeGreaterThanOrEqual(seen.y - slack);
        expect(target.x + Math.min(target.w, seen.w / 2)).toBeLessThan(seen.x + seen.w + slack);
        expect(target.y + Math.min(target.h, seen.h / 2)).toBeLessThan(seen.y + seen.h + slack);
        expect(revealed(revealed(at, target, size), target, size).zoom).toBe(at.zoom);
      }),
    );
  });
});
