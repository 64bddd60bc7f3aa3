/**
 * Where a project's own settings are looked for: from the working folder up to the root of its git
 * repository, or up to the user's home. Outside of both only the working folder itself counts, so
 * that nobody else's file in a shared parent such as /tmp is ever picked up.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PROJECT_FILE_NAME } from "./layout.ts";

export function findProjectFile(cwd: string, userHome: string): string | undefined {
  return searchFolders(resolve(cwd), resolve(userHome))
    .map((folder) => join(folder, PROJECT_FILE_NAME))
    .find((path) => existsSync(path));
}

function searchFolders(start: string, userHome: string): string[] {
  const folders: string[] = [];
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder);
    if (folder === userHome || existsSync(join(folder, ".git"))) return folders;
    if (folder === dirname(folder)) return [start];
  }
}
