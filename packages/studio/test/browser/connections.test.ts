/** S18: services are connected, by consent and by credential. */
import { describeWith } from "@millrace/test-support";
import { OAuth2Server } from "oauth2-mock-server";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { startServer } from "./server.ts";
import { servicesAt } from "./services.ts";
import { useStudio } from "./studio.ts";

const SECRET = "the-secret-of-the-client";
const KEY = "the-key-of-the-mailer";

/** An authorization server that consents at once, until it is told to deny. */
async function startProvider() {
  const provider = new OAuth2Server();
  await provider.issuer.keys.generate("RS256");
  await provider.start(0, "127.0.0.1");
  onTestFinished(() => provider.stop());
  return {
    origin: `http://127.0.0.1:${provider.address().port}`,
    refuse() {
      provider.service.once("beforeResponse", (answer: { statusCode: number; body: object }) => {
        answer.statusCode = 401;
        answer.body = { error: "invalid_client" };
      });
    },
    deny() {
      provider.service.once("beforeAuthorizeRedirect", ({ url }: { url: URL }) => {
        url.searchParams.delete("code");
        url.searchParams.set("error", "access_denied");
      });
    },
  };
}

const rowOf = (page: Page, title: string) =>
  page.getByRole("table", { name: "Services" }).getByRole("row").filter({ hasText: title });
const status = (page: Page) => page.getByRole("status", { name: "Connect status" });

/** Follows the link to the consent page; answers the tab that opens. */
async function openConsent(page: Page): Promise<Page> {
  const link = page.getByRole("link", { name: "Open consent page" });
  const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  return tab;
}

describeWith("chromium")("the connections", () => {
  const studio = useStudio();

  test("connects by a consent in a tab of its own; a denied one says so and can be tried again", async () => {
    const provider = await startProvider();
    await using server = await startServer(servicesAt(provider.origin));
    const page = await studio.open(server.url, {
      place: "#/connections",
      expected: [/status of 404/],
    });
    await rowOf(page, "Tracker").getByText("not connected").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Connect tracker" }).click();
    const form = page.getByRole("form", { name: "Connect tracker" });
    await form.getByLabel("Client ID").fill("client");
    const secret = form.getByLabel("Client secret");
    await expect.poll(() => secret.getAttribute("type")).toBe("password");
    await secret.fill(SECRET);
    await expectAccessible(page);
    await form.getByRole("button", { name: "Continue" }).click();
    const link = form.getByRole("link", { name: "Open consent page" });
    await link.waitFor();
    await expect.poll(() => status(page).textContent()).toBe("waiting");
    await expect.poll(() => link.getAttribute("rel")).toContain("noopener");
    await expect.poll(() => link.getAttribute("target")).toBe("_blank");
    await expectAccessible(page);

    const tab = await openConsent(page);
    await tab.waitForLoadState();
    expect(await tab.evaluate(() => window.opener)).toBe(null);
    await status(page).getByText("connected").waitFor();
    await rowOf(page, "Tracker").getByText("connected", { exact: true }).waitFor();
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll("input")].map(({ value }) => value).join(" "),
    );
    expect(`${await page.content()} ${shown}`).not.toContain(SECRET);

    provider.deny();
    await page.getByRole("button", { name: "Reconnect tracker" }).click();
    await openConsent(page);
    await status(page).getByText("failed: access_denied").waitFor();
    await form.getByRole("button", { name: "Try again" }).click();
    await status(page).getByText("waiting").waitFor();
    await openConsent(page);
    await status(page).getByText("connected").waitFor();
    await form.getByRole("button", { name: "Close" }).click();

    await page.getByRole("button", { name: "Disconnect tracker" }).click();
    const dialog = page.getByRole("dialog", { name: "Disconnect tracker?" });
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    await rowOf(page, "Tracker").getByText("not connected").waitFor();
  });

  test("takes the address at which a consent on another machine ended", async () => {
    const provider = await startProvider();
    await using server = await startServer(servicesAt(provider.origin));
    await server.client.invoke("set_service_secret", {
      slug: "tracker",
      service: "tracker",
      value: { client_id: "client", client_secret: SECRET },
    });
    const page = await studio.open(server.url, { place: "#/connections" });
    await page.getByRole("button", { name: "Connect tracker" }).click();
    await page.getByRole("link", { name: "My browser is on another machine" }).click();
    const address = page.getByLabel("Address after the consent");
    await address.fill("http://127.0.0.1:50000/callback");
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByRole("alert").getByText("has no code and no state").waitFor();
    const link = page.getByRole("link", { name: "Open consent page" });
    const consent = new URL((await link.getAttribute("href")) ?? "");
    expect(consent.searchParams.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/done$/);
    const answer = await fetch(consent, { redirect: "manual" });
    await address.fill(answer.headers.get("location") ?? "");
    await page.getByRole("button", { name: "Finish" }).click();
    await status(page).getByText("connected").waitFor();
    await rowOf(page, "Tracker").getByText("connected", { exact: true }).waitFor();
  });

  test("says why a consent failed, and which of two pages still waits", async () => {
    const provider = await startProvider();
    await using server = await startServer(servicesAt(provider.origin));
    await server.client.invoke("set_service_secret", {
      slug: "tracker",
      service: "tracker",
      value: { client_id: "client", client_secret: SECRET },
    });
    const expected = [/status of (409|50\d)/];
    const first = await studio.open(server.url, { place: "#/connections", expected });
    await first.getByRole("button", { name: "Connect tracker" }).click();
    await status(first).getByText("waiting").waitFor();
    const page = await studio.open(server.url, {
      place: "#/connections?connect=tracker&receiver=caller",
      expected,
    });
    await page.getByRole("button", { name: "Continue" }).click();
    await status(first).getByText("superseded").waitFor();
    await first.getByText("A newer request for this connection has replaced this one.").waitFor();
    // Whoever comes back to a page sees what became of the connections meanwhile.
    const mailer = { slug: "mailer", service: "mailer", value: KEY };
    await server.client.invoke("set_service_secret", mailer);
    await first.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await rowOf(first, "Mailer").getByText("connected", { exact: true }).waitFor();

    const address = page.getByLabel("Address after the consent");
    await address.fill("http://127.0.0.1:50000/done?code=c&state=of-another-request");
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByRole("alert").getByText("OAuth state mismatch").waitFor();
    await page.getByText("The answer was to another request").waitFor();

    await page.getByRole("button", { name: "Try again" }).click();
    await status(page).getByText("waiting").waitFor();
    expect(await page.getByRole("alert").getByText("OAuth state mismatch").count()).toBe(0);
    const link = page.getByRole("link", { name: "Open consent page" });
    const answer = await fetch((await link.getAttribute("href")) ?? "", { redirect: "manual" });
    provider.refuse();
    await address.fill(answer.headers.get("location") ?? "");
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByRole("alert").getByText("answered 401 (invalid_client)").waitFor();
    await page.getByText("check its id and its secret").waitFor();
    await expectAccessible(page);
  });

  test("stores the key of a service, which is not in the page afterwards", async () => {
    await using server = await startServer(servicesAt("http://127.0.0.1:9"));
    const page = await studio.open(server.url, { place: "#/connections" });
    await rowOf(page, "Clock").getByText("needs no credential").waitFor();
    await page.getByRole("button", { name: "Connect mailer" }).click();
    const field = page.getByRole("form", { name: "Connect mailer" }).getByLabel("API key");
    await expect.poll(() => field.getAttribute("type")).toBe("password");
    await field.fill(KEY);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Continue" }).click();
    await rowOf(page, "Mailer").getByText("connected", { exact: true }).waitFor();
    expect(await page.content()).not.toContain(KEY);
  });

  test("makes the connection that a flow names, of the service that it wants", async () => {
    await using server = await startServer(servicesAt("http://127.0.0.1:9"));
    const page = await studio.open(server.url, {
      place: "#/connections?connect=our-mailer&service=mailer",
    });
    await page.getByRole("form", { name: "Connect our-mailer" }).getByLabel("API key").fill(KEY);
    await page.getByRole("button", { name: "Continue" }).click();
    await rowOf(page, "our-mailer").getByText("connected", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Disconnect our-mailer" }).waitFor();
  });

  test("says how a server gets services", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/connections" });
    await page.getByRole("heading", { name: "No services" }).waitFor();
    await expectAccessible(page);
  });
});
