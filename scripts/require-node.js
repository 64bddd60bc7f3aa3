// Plain JavaScript for Node 18 and newer, because it must run where the rest cannot.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `Holdfast needs Node 24 or newer; this is ${process.version}.\n` +
      "The project brings its own: run `npm ci` (without --ignore-scripts) and use `npm run …` or `npx …`.",
  );
  process.exit(1);
}
