import { onTestFinished } from "vitest";

/** Makes this test believe that it runs on another system. */
export function onPlatform(platform: NodeJS.Platform): void {
  const real = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
  Object.defineProperty(process, "platform", { ...real, value: platform });
  onTestFinished(() => {
    Object.defineProperty(process, "platform", real);
  });
}
