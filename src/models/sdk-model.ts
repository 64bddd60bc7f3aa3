/** A model as the AI SDK's packages serve it. They are loaded here and nowhere else, when one is asked for. */
import type { wrapLanguageModel } from "ai";
import type { ProviderAccess } from "./provider-access.ts";

export type SdkModel = ReturnType<typeof wrapLanguageModel>;

export async function loadSdkModel(
  access: ProviderAccess,
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<SdkModel> {
  // A key that is not there is "", never absent: absent, the packages would look for one themselves.
  const { name, protocol, baseUrl: baseURL, apiKey = "" } = access;
  return await LOADERS[protocol]({ name, baseURL, apiKey, fetch }, model);
}

interface SdkSettings {
  name: string;
  baseURL: string;
  apiKey: string;
  fetch: typeof globalThis.fetch;
}

const LOADERS: Record<ProviderAccess["protocol"], (settings: SdkSettings, model: string) => Promise<SdkModel>> = {
  anthropic: async (settings, model) =>
    (await import("@ai-sdk/anthropic")).createAnthropic(settings).languageModel(model),
  openai: async (settings, model) => (await import("@ai-sdk/openai")).createOpenAI(settings).languageModel(model),
  google: async (settings, model) => (await import("@ai-sdk/google")).createGoogle(settings).languageModel(model),
  "openai-compatible": async (settings, model) =>
    (await import("@ai-sdk/openai-compatible"))
      .createOpenAICompatible({ ...settings, includeUsage: true })
      .languageModel(model),
};
