/** How much there is on a picture: a blank page has few colours and no edges. */
import type { Page } from "playwright-core";

/** Counts of a picture. */
export interface Pixels {
  readonly colours: number;
  /** Pixels that differ strongly from the one on their left: letters have many. */
  readonly edges: number;
}

/** Reads a PNG with the browser of `page`, which must be one without a policy, such as `about:blank`. */
export function readPixels(page: Page, png: Buffer): Promise<Pixels> {
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context?.drawImage(image, 0, 0);
    const data = context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
    const colours = new Set<number>();
    let edges = 0;
    let left = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [r = 0, g = 0, b = 0] = [data[at], data[at + 1], data[at + 2]];
      colours.add((r << 16) | (g << 8) | b);
      const light = r + g + b;
      if (Math.abs(light - left) > 150) edges += 1;
      left = light;
    }
    return { colours: colours.size, edges };
  }, png.toString("base64"));
}
