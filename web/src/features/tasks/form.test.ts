import { expect, it } from "vitest";
import type { Json } from "../../api/types";
import { contentOf, fieldsOf } from "./form";

const SCHEMA: { [key: string]: Json } = {
  type: "object",
  required: ["when", "size"],
  properties: {
    when: { type: "string", title: "When?", description: "A day." },
    seats: { type: "integer", default: 2 },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "l" }] },
    colour: { type: "string", enum: ["red", "blue"], enumNames: ["Red", "Blue"] },
    extras: { type: "array", items: { type: "string", enum: ["milk", "sugar"] } },
    quiet: { type: "boolean" },
  },
};

it("reads every kind of field a server may ask", () => {
  const fields = fieldsOf(SCHEMA);
  expect(fields.map((field) => field.kind)).toEqual([
    "text",
    "integer",
    "choice",
    "choice",
    "choices",
    "boolean",
  ]);
  expect(fields[0]).toMatchObject({ label: "When?", hint: "A day.", isRequired: true });
  expect(fields[2]?.choices).toEqual([
    { value: "s", label: "Small" },
    { value: "l", label: "l" },
  ]);
  expect(fields[3]?.choices[0]).toEqual({ value: "red", label: "Red" });
  expect(fields.map((field) => field.initial)).toEqual([null, 2, null, null, [], false]);
});

it("sends what was filled in and leaves out what was left empty", () => {
  const fields = fieldsOf(SCHEMA);
  const values = { when: "", seats: 3, size: "s", colour: null, extras: [], quiet: false };
  expect(contentOf(fields, values)).toEqual({ when: "", seats: 3, size: "s", extras: [], quiet: false });
});

it("finds no fields where a schema has none that can be read", () => {
  expect(fieldsOf({ properties: [] })).toEqual([]);
  expect(fieldsOf({})).toEqual([]);
});
