// Compiles the code for Claude Code's hooks with the Node that runs this script.
import { fileURLToPath } from "node:url";
import { keepCompiled } from "../bin/compiled-code.js";

keepCompiled(fileURLToPath(new URL("../dist/bin", import.meta.url)));
