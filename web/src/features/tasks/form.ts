import type { Json } from "../../api/types";

/** One field of a form that a task asks to be filled in. */
export interface FormField {
  name: string;
  label: string;
  hint: string;
  kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  choices: { value: string; label: string }[];
  isRequired: boolean;
  initial: Json;
}

type Described = { [key: string]: Json | undefined };

const asDescribed = (value: Json | undefined): Described =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
const words = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** The fields of a JSON Schema of one object with plain properties, as MCP servers ask them. */
export function fieldsOf(schema: { [key: string]: Json }): FormField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(asDescribed(schema.properties)).map(([name, given]) => {
    const property = asDescribed(given);
    const kind = kindOf(property);
    return {
      name,
      label: words(property.title) || name,
      hint: words(property.description),
      kind,
      choices: choicesOf(kind === "choices" ? asDescribed(property.items) : property),
      isRequired: required.includes(name),
      initial: property.default ?? (kind === "boolean" ? false : kind === "choices" ? [] : null),
    };
  });
}

/** What is sent: fields left empty are left out, unless they are required. */
export function contentOf(fields: FormField[], values: { [name: string]: Json }): { [name: string]: Json } {
  const given = fields.map((field) => [field, values[field.name] ?? null] as const);
  return Object.fromEntries(
    given
      .filter(([field, value]) => value !== null && (value !== "" || field.isRequired))
      .map(([field, value]) => [field.name, value]),
  );
}

function kindOf(property: Described): FormField["kind"] {
  if (property.type === "array") return "choices";
  if (choicesOf(property).length) return "choice";
  if (property.type === "number" || property.type === "integer" || property.type === "boolean")
    return property.type;
  return "text";
}

/** The values there are to choose from: `enum`, with `enumNames` if it has them, or constants with titles. */
function choicesOf(property: Described): FormField["choices"] {
  const named = property.oneOf ?? property.anyOf;
  if (Array.isArray(named))
    return named
      .map(asDescribed)
      .filter((one) => typeof one.const === "string")
      .map((one) => ({ value: words(one.const), label: words(one.title) || words(one.const) }));
  const names = Array.isArray(property.enumNames) ? property.enumNames : [];
  const values = Array.isArray(property.enum) ? property.enum : [];
  return values
    .filter((value) => typeof value === "string")
    .map((value, index) => ({ value, label: words(names[index]) || value }));
}
