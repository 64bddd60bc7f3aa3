/**
 * How a provider is reached: protocol, address, key. Everything comes from the configuration and the
 * environment that was handed in; the packages' own look into the process's environment is never used,
 * so that a key reaches only the address that it was configured for.
 */
import { HoldfastError } from "../base/errors.ts";
import { closestMatch } from "../base/suggest.ts";
import type { ProviderConfig } from "../config/config.ts";
import type { Environment } from "../config/layout.ts";

export interface ProviderAccess {
  name: string;
  protocol: "anthropic" | "openai" | "google" | "openai-compatible";
  baseUrl: string;
  /** Missing for a provider that needs none, such as a model on this machine. */
  apiKey?: string;
}

export function resolveProvider(
  name: string,
  providers: Readonly<Record<string, ProviderConfig>>,
  env: Environment,
): ProviderAccess {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  const config = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (known === undefined && config === undefined) throw unknownProvider(name, providers);

  const address = config?.baseUrl ?? (known?.baseUrlEnv && env[known.baseUrlEnv]) ?? known?.baseUrl;
  if (address === undefined || address === "") throw missingAddress(name);
  const keyNames = config?.apiKeyEnv === undefined ? (known?.keyEnv ?? []) : [config.apiKeyEnv];
  const apiKey = keyNames.map((variable) => env[variable]?.trim()).find((key) => key !== undefined && key !== "");
  if (apiKey === undefined && keyNames.length > 0) throw missingKey(name, keyNames);

  return {
    name,
    protocol: known?.protocol ?? "openai-compatible",
    baseUrl: withVersionPath(name, address, known?.versionPath ?? "/v1"),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

interface KnownProvider {
  protocol: ProviderAccess["protocol"];
  baseUrl: string;
  /** What other tools of the provider read the address from. */
  baseUrlEnv?: string;
  versionPath: string;
  /** Empty: no key is needed. */
  keyEnv: readonly string[];
}

const KNOWN: Record<string, KnownProvider> = {
  anthropic: {
    protocol: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    baseUrlEnv: "ANTHROPIC_BASE_URL",
    versionPath: "/v1",
    keyEnv: ["ANTHROPIC_API_KEY"],
  },
  openai: {
    protocol: "openai",
    baseUrl: "https://api.openai.com/v1",
    baseUrlEnv: "OPENAI_BASE_URL",
    versionPath: "/v1",
    keyEnv: ["OPENAI_API_KEY"],
  },
  google: {
    protocol: "google",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    versionPath: "/v1beta",
    keyEnv: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  ollama: { protocol: "openai-compatible", baseUrl: "http://127.0.0.1:11434/v1", versionPath: "/v1", keyEnv: [] },
};

/** Some tools write the bare host, others the path of the version too; both mean the same. */
function withVersionPath(name: string, address: string, versionPath: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) throw badAddress(name, address);
  return url.pathname === "/" ? `${url.origin}${versionPath}` : address.replace(/\/+$/, "");
}

function unknownProvider(name: string, providers: Readonly<Record<string, ProviderConfig>>): HoldfastError {
  const near = closestMatch(name, [...Object.keys(KNOWN), ...Object.keys(providers)]);
  return new HoldfastError("usage", "model-provider-unknown", `No model provider is called "${name}".`, {
    hint:
      near === undefined
        ? `Set providers.${name}.baseUrl in the configuration; the address must speak OpenAI's protocol.`
        : `Did you mean "${near}"? Another provider needs providers.${name}.baseUrl in the configuration.`,
    data: { provider: name },
  });
}

function missingAddress(name: string): HoldfastError {
  return new HoldfastError("usage", "model-provider-address", `The address of the provider "${name}" is not known.`, {
    hint: `Set providers.${name}.baseUrl in the configuration.`,
    data: { provider: name },
  });
}

function badAddress(name: string, address: string): HoldfastError {
  return new HoldfastError("usage", "model-provider-address", `"${address}" is no address of the provider "${name}".`, {
    hint: "An address starts with https:// (or http:// for a server on your own machine).",
    data: { provider: name, address },
  });
}

function missingKey(name: string, variables: readonly string[]): HoldfastError {
  return new HoldfastError("forbidden", "model-key-missing", `There is no key for the provider "${name}".`, {
    hint: `Set ${variables.join(" or ")} in the environment, or name another variable in providers.${name}.apiKeyEnv.`,
    data: { provider: name, variables },
  });
}
