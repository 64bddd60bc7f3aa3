/** What Holdfast knows of its own installation, from source as well as built. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** The file that `holdfast` runs, for starting another one. */
export function programFile(): string {
  return fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
}

/** The page that the gateway serves, where it was built. */
export function webFolder(): string {
  return fileURLToPath(new URL("../../dist/web", import.meta.url));
}

/** What was learned or worked out beforehand, for whoever needs it. */
export function dataFile(name: string): URL {
  return new URL(`../../data/${name}`, import.meta.url);
}

/** The hooks that come with Holdfast. */
export function bundledHooksFolder(): string {
  return fileURLToPath(new URL("../../hooks", import.meta.url));
}
