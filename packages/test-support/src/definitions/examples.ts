import {
  type ActionAdapterDefinition,
  type AiModel,
  defineAction,
  defineActionAdapter,
  defineExtension,
  defineProvider,
  defineService,
  type ExtensionDefinition,
  type FetchLike,
  NodeError,
  type ProviderDefinition,
  type ServiceDefinition,
} from "@millrace/contracts";
import * as z from "zod";

// The examples of the extensions page, as an author writes them.
const forecast = defineAction({
  name: "forecast",
  title: "Weather forecast",
  summary: "Tomorrow's temperature of a place.",
  fields: z.object({
    city: z
      .string()
      .min(1)
      .meta({ "x-millrace": { sink: "url" } }),
    units: z.enum(["c", "f"]).default("c"),
  }),
  output: z.object({ high: z.number(), low: z.number() }),
  effect: "read",
  needs: { secrets: ["WEATHER_KEY"] },
  run: async (f, ctx) => {
    const key = await ctx.credentials.secret("WEATHER_KEY");
    const r = await ctx.fetch(
      `https://api.weather.example/v1/${encodeURIComponent(f.city)}?u=${f.units}`,
      { headers: { "x-key": key.reveal() } },
    );
    if (!r.ok) {
      throw new NodeError("weather_http", `weather service answered ${r.status}`, {
        retryable: r.status >= 500,
      });
    }
    return (await r.json()) as { high: number; low: number };
  },
});

export const weather: ActionAdapterDefinition = defineActionAdapter({
  id: "weather",
  title: "Weather",
  actions: [forecast],
});

export const runForecast: typeof forecast.run = forecast.run;

declare function createAcme(options: { apiKey: string | undefined; fetch: FetchLike }): {
  languageModel(modelId: string): AiModel;
};

export const acme: ProviderDefinition = defineProvider({
  id: "acme",
  title: "Acme AI",
  create: (_config, _host) => ({
    id: "acme",
    capabilities: async () => ({
      tools: true,
      jsonSchema: true,
      files: [],
      embed: false,
      params: ["temperature", "topP", "seed"],
    }),
    languageModel: (modelId, c) =>
      createAcme({ apiKey: c.credentials.apiKey, fetch: c.fetch }).languageModel(modelId),
  }),
});

export const crm: ServiceDefinition = defineService({
  slug: "acme-crm",
  title: "Acme CRM",
  summary: "Contacts and deals.",
  serviceIntegration: {
    baseUrl: "https://api.acme.example/v2",
    auth: {
      scheme: "oauth2",
      authorizeUrl: "https://acme.example/oauth/authorize",
      tokenUrl: "https://acme.example/oauth/token",
      scopes: ["contacts.read"],
    },
    operations: [
      {
        id: "list_contacts",
        title: "List contacts",
        method: "GET",
        path: "/contacts",
        effect: "read",
        query: { type: "object", properties: { q: { type: "string" } } },
        result: { type: "object" },
      },
    ],
  },
});

export const extension: ExtensionDefinition = defineExtension({
  adapters: [weather],
  providers: [acme],
  services: [crm],
});
