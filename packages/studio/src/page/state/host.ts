/** Where the page is seen from. */

/** Whether a host is the machine of the reader itself. */
export function isLoopback(host: string): boolean {
  return (
    host === "localhost" || host === "[::1]" || /^127\./.test(host) || host.endsWith(".localhost")
  );
}
