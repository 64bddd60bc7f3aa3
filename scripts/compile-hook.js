// Compiles what answers Claude Code's hooks, for the Node that this is run by.
import { fileURLToPath } from "node:url";
import { keepCompiled } from "../bin/compiled-code.js";

keepCompiled(fileURLToPath(new URL("../dist/bin", import.meta.url)));
