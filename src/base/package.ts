/** Files of Holdfast's own installation, from source and built. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** The executable, for starting another process. */
export function programFile(): string {
  return fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
}

/** The built page that the gateway serves. */
export function webFolder(): string {
  return fileURLToPath(new URL("../../dist/web", import.meta.url));
}

export function dataFile(name: string): URL {
  return new URL(`../../data/${name}`, import.meta.url);
}

export function bundledHooksFolder(): string {
  return fileURLToPath(new URL("../../hooks", import.meta.url));
}

export function bundledSkillsFolder(): string {
  return fileURLToPath(new URL("../../skills", import.meta.url));
}
