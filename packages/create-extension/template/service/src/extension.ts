import { defineExtension, defineService } from "@millrace/contracts";

const service = defineService({
  slug: "your-extension",
  title: "your-extension",
  summary: "Contacts.",
  serviceIntegration: {
    baseUrl: "https://api.example.com/v1",
    auth: { scheme: "bearer" },
    operations: [
      {
        id: "get_contact",
        title: "Get a contact",
        method: "GET",
        path: "/contacts/{contact}",
        effect: "read",
        params: {
          type: "object",
          properties: { contact: { type: "string" } },
          required: ["contact"],
        },
        result: { type: "object" },
      },
    ],
  },
});

export default defineExtension({ services: [service] });
