// Writes src/api/generated.ts: a type for every shape in the gateway's OpenAPI document. `--check` only compares.
import { readFile, writeFile } from "node:fs/promises";
import { compile } from "json-schema-to-typescript";

const PLACE = new URL("src/api/generated.ts", import.meta.url);
const document = JSON.parse(
  await readFile(new URL("../docs/reference/openapi.json", import.meta.url), "utf8"),
);

const shapes = JSON.parse(
  JSON.stringify(document.components.schemas).replaceAll("#/components/schemas/", "#/definitions/"),
);
shapes.JsonValue = { tsType: "Json" };
for (const shape of Object.values(shapes)) untitle(shape);
const names = Object.keys(shapes).filter((name) => name !== "JsonValue");

/** Titles of fields would each become a type of their own. */
function untitle(node) {
  if (node === null || typeof node !== "object") return;
  if (typeof node.title === "string") delete node.title;
  for (const part of Object.values(node)) untitle(part);
}

const schema = {
  title: "Shapes",
  type: "object",
  additionalProperties: false,
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }])),
  definitions: shapes,
};
const body = await compile(schema, "Shapes", {
  additionalProperties: false,
  bannerComment: [
    "// Made from docs/reference/openapi.json by `npm run types`. Do not edit.",
    "",
    "export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };",
  ].join("\n"),
  format: false,
});

if (process.argv.includes("--check")) {
  if ((await readFile(PLACE, "utf8")) !== body) {
    console.error("src/api/generated.ts is not what docs/reference/openapi.json says: npm run types");
    process.exit(1);
  }
} else await writeFile(PLACE, body);
