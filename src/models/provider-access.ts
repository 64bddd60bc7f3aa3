/**
 * How a provider is reached: protocol, address, key, SDK package and a safe `fetch`. Keys and addresses come only from
 * the configuration and the given environment, never from a package's own look at the process environment, so a key
 * goes only to the address it was configured for. The package's public types must not reach this file.
 */
import type { ProviderConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";
import { modelData } from "./model-info.ts";
import type { embedMany, wrapLanguageModel } from "ai";
import { HoldfastError } from "../base/errors.ts";
import { closestMatch } from "../base/text.ts";

export interface ProviderAccess {
  name: string;
  protocol: "anthropic" | "openai" | "google" | "openai-compatible";
  baseUrl: string;
  /** Absent for a provider that needs none, such as a local server. */
  apiKey?: string | undefined;
}

export function resolveProvider(
  name: string,
  providers: Readonly<Record<string, ProviderConfig>>,
  env: Environment,
): ProviderAccess {
  const { providers: builtIn } = modelData();
  const known = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
  const config = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (known === undefined && config === undefined) throw unknownProvider(name, providers);

  const address = config?.baseUrl ?? (known?.baseUrlEnv && env[known.baseUrlEnv]) ?? known?.baseUrl;
  if (address === undefined || address === "") {
    throw new HoldfastError("usage", "model-provider-address", `No address is set for the provider "${name}".`, {
      hint: `Set providers.${name}.baseUrl in the configuration.`,
      data: { provider: name },
    });
  }
  const keyNames = config?.apiKeyEnv === undefined ? (known?.keyEnv ?? []) : [config.apiKeyEnv];
  const apiKey = keyNames.map((variable) => env[variable]?.trim()).find((key) => key !== undefined && key !== "");
  if (apiKey === undefined && keyNames.length > 0) {
    throw new HoldfastError("forbidden", "model-key-missing", `There is no API key for provider "${name}".`, {
      hint:
        `Set ${keyNames.join(" or ")} (for a running gateway: set it, then \`holdfast gateway restart\`), ` +
        `or name another variable in providers.${name}.apiKeyEnv.`,
      data: { provider: name, variables: keyNames },
    });
  }

  return {
    name,
    protocol: known?.protocol ?? "openai-compatible",
    baseUrl: withVersionPath(name, address, known?.versionPath ?? "/v1"),
    apiKey,
  };
}

/** Accepts the bare host as well as the address with the version path. */
function withVersionPath(name: string, address: string, versionPath: string): string {
  const url = URL.parse(address);
  if (url !== null && /^https?:$/.test(url.protocol)) {
    return url.pathname === "/" ? `${url.origin}${versionPath}` : address.replace(/\/+$/, "");
  }
  const message = `"${address}" is not a valid address for the provider "${name}".`;
  const hint = "An address starts with https:// (or http:// for a server on your own machine).";
  throw new HoldfastError("usage", "model-provider-address", message, { hint, data: { provider: name, address } });
}

function unknownProvider(name: string, providers: Readonly<Record<string, ProviderConfig>>): HoldfastError {
  const near = closestMatch(name, [...Object.keys(modelData().providers), ...Object.keys(providers)]);
  return new HoldfastError("usage", "model-provider-unknown", `No model provider is called "${name}".`, {
    hint:
      near === undefined
        ? `Set providers.${name}.baseUrl in the configuration; the server must be OpenAI-compatible.`
        : `Did you mean "${near}"? Another provider needs providers.${name}.baseUrl in the configuration.`,
    data: { provider: name },
  });
}

export type SdkModel = ReturnType<typeof wrapLanguageModel>;

export async function loadSdkModel(access: ProviderAccess, model: string, fetch: typeof globalThis.fetch) {
  const loaded: SdkModel = (await loadPackage(access, fetch)).languageModel(model);
  return loaded;
}

/** The same for a model that turns texts into vectors. Anthropic has none. */
export async function loadSdkEmbedding(access: ProviderAccess, model: string, fetch: typeof globalThis.fetch) {
  if (access.protocol === "anthropic") {
    throw new HoldfastError("usage", "model-request-invalid", "Anthropic has no embedding models.", {
      hint: "Use openai, google, ollama or a provider with an OpenAI-compatible server.",
      data: { provider: access.name, model },
    });
  }
  const loaded: SdkEmbedding = (await loadPackage(access, fetch)).embeddingModel(model);
  return loaded;
}

async function loadPackage(access: ProviderAccess, fetch: typeof globalThis.fetch) {
  // A missing key becomes "": without one, the packages would read the environment.
  const settings = { name: access.name, baseURL: access.baseUrl, apiKey: access.apiKey ?? "", fetch };
  switch (access.protocol) {
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(settings);
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(settings);
    case "google":
      return (await import("@ai-sdk/google")).createGoogle(settings);
    default:
      return (await import("@ai-sdk/openai-compatible")).createOpenAICompatible({ ...settings, includeUsage: true });
  }
}

type SdkEmbedding = Exclude<Parameters<typeof embedMany>[0]["model"], string>;

interface BoundedFetchOptions {
  maxBytes: number;
  /** Called when the answer begins and for each chunk. Optional. */
  onBytes?: (() => void) | undefined;
  fetch?: typeof globalThis.fetch | undefined;
}

/** `fetch` that limits the size of the answer and refuses redirects, which would carry the key to another server. */
export function createBoundedFetch(options: BoundedFetchOptions): typeof globalThis.fetch {
  const send = options.fetch ?? fetch;
  return async (input, init) => {
    const response = await send(input, { ...init, redirect: "error" });
    options.onBytes?.();
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(byteLimit(options)), { status, statusText, headers });
  };
}

function byteLimit({ maxBytes, onBytes }: BoundedFetchOptions): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      seen += chunk.byteLength;
      onBytes?.();
      if (seen <= maxBytes) return controller.enqueue(chunk);
      const message = `The model's answer exceeds ${maxBytes} bytes.`;
      const hint = "Check that providers.<name>.baseUrl is the address of a model server.";
      controller.error(
        new HoldfastError("unavailable", "model-answer-too-large", message, { hint, data: { maxBytes } }),
      );
    },
  });
}
